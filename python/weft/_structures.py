"""The structures of Weft's public headers, for ctypes. A test compares them with the headers."""
# Decision: docs/decisions/0050-python-calls-through-ctypes.md

import re
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p, sizeof)
from typing import Any, Dict

LOG = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
PROGRESS = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_double)


class _Options(Structure):
    """Options, which begin with their size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=sizeof(type(self)), **members)


# The members of each: types with the names of members that have it, in order. Those "of options" begin with their size.
_TABLE = """
weft_error: int line, column, status; char[1024] message; char[512] file; char[256] source_line; char[512] hint
weft_processes: int size, rank; text variable
weft_rank_share: char[128] device; double share, seconds, alone
weft_mpi_given: int handle; text version
weft_interface_size: text name; size size
weft_text: text data; size length, capacity; bool failed
weft_monitor: LOG log; PROGRESS progress; address user; int* cancelled
weft_target: int warp_threads, block_threads, block_threads_most, resident_threads, resident_blocks, reserved_bytes, reduction_tile,
    joined_direct, joined_exact, joined_before
weft_limits: int kind, execution; bool records_only; text language; char[128] name; int lanes_double, lanes_float, threads,
    multiprocessors; size register_bytes; int cluster_blocks; size onchip_bytes, l2_bytes, memory_bytes; double bandwidth, flops,
    launch_seconds; weft_target target
weft_device_options of options: weft_monitor* monitor; int cache; text cache_directory, keep_directory, compiler, instructions
weft_group: char[256] name; int dimension; int64 first_facet, n_facets, first_cell, n_cells, first_point, n_points; int number
weft_point_lists: int64 n_nodes, n_pairs; address nodes, pairs
weft_mesh: int dimension, cell; int64 n_nodes, n_cells; double* x; int* cells; double* curve; int64 n_facets, n_boundary_facets; int*
    facets; int n_groups; weft_group* groups; int* group_facets, group_cells; weft_point_lists points; int64 n_flipped_cells,
    n_dropped_nodes, n_ignored_facets, n_coincident; char[512] source; address part; bool is_sorted
weft_mesh_data: int dimension, cell; int64 n_nodes, n_cells; address x, cells; int degree, n_groups; address groups; int64 n_group_facets;
    address group_facet_nodes; int64 n_group_cells; address group_cells; weft_point_lists points
weft_mesh_options of options: double cell_size, memory, seconds; bool trust_geo; address device
weft_family_info: text words, prefix, listed; text* names; int broken, map; bool is_vector, is_continuous, is_lattice, is_global,
    at_points, has_degree
weft_element_kind: int family, degree
weft_hierarchy_level: weft_mesh* mesh; int* parents
weft_hierarchy: int n_levels; weft_hierarchy_level* levels; double order_seconds
weft_hierarchy_options of options: int times; bool ordered; int ordering; int64 part_nodes
weft_saving: int n_calls, n_kernels, n_unfused; char[256] calls; char[64] index_set; double bytes, bytes_unfused
weft_context: address device, library; int plan; weft_monitor* monitor; double compile_seconds, plan_seconds; int n_kernels; weft_saving
    saving; char[96] saving_script; address data, tuning, comm
weft_fragment: text name, text
weft_outline_name: text name; int kind; bool in_loop, accumulated, read
weft_expression: text name, text, origin
weft_parameter: text name; int value
weft_compile_options of options: int plan, scatter; bool single; weft_expression* expressions; int n_expressions; weft_parameter*
    parameters; int n_parameters; address variants; int n_variants; text narrow; address operators; int n_operators, rematerialise,
    iterations; int64 elements; text forced_plan; int max_fusion; address costs; int alternative, patch_nodes; bool predicated; text
    cover; address tuned; bool runs_once, distributed, replicated; address plans; bool corrected
weft_gemm_matrix: address memory; int64 first, ld, stride
weft_gemm_product: int type, op_a, op_b; int64 m, n, k; double[2] alpha, beta; weft_gemm_matrix a, b, c
weft_search_script: address library; weft_fragment* fragments; int n_fragments; weft_compile_options* options
weft_tune_options of options: double seconds; int64 elements; bool single; address tuning, measure, user
weft_name_info: text name; int kind; text over, to; int width, rank; int[4] sizes; bool returned, sparse; int value
weft_form_input: text name; address memory
weft_form_connectivity: text name; address connectivity
weft_form: text name, text; address dofs, points; weft_form_input* inputs; int n_inputs; weft_expression* expressions; int n_expressions;
    weft_parameter* parameters; int n_parameters; text product, action, diagonal; int components; weft_form_connectivity* connectivities;
    int n_connectivities; bool adds_couplings; address kernels, facets; bool is_symmetric
weft_form_outputs: text* names; address* memories; int n; text index_set; int64 n_elements
weft_condition: int kind; text group, value, alpha, origin; int component
weft_bc_place: int64 first_dof, n_dofs
weft_pattern: int64 n_rows, n_entries; int64* row_start; int* columns
weft_preconditioner_problem: address op; int* constrained; int64 n_constrained; int* pinned; int n_pinned; bool is_general, project_mean;
    address space; address* spaces; int n_spaces; weft_hierarchy* hierarchy; int degree, full_cycles, levels; bool double_levels,
    is_final; address coarser; text petsc_options; weft_monitor* monitor
weft_cg_options of options: int method, restart; bool jacobi; double tolerance; int max_iterations; int* constrained; int64 n_constrained;
    bool project_mean; address preconditioner; int full_cycles; bool until_discretisation; weft_monitor* monitor; address* spaces; int
    n_spaces
weft_cg_result: int outcome; text breakdown; int iterations; double residual; double* history; bool to_rounding; double backward_error,
    jump, discretisation_error, algebraic_error
weft_input_source: text text, origin, shown, file; bool in_time; address memory
weft_problem_options of options: int method, assembly, preconditioner, earlier, smoother_degree, restart; double tolerance; bool
    until_discretisation; int max_iterations, tune; text petsc_options
weft_problem_choice: int method, assembly, preconditioner, restart; bool basis_is_too_large; size bytes; double expected; int next,
    next_after; char[200] method_reason, preconditioner_reason
weft_constraint of options: int kind; text group, other; double[3] point; int component; text value, origin
weft_point_load of options: text group; double[3] point; int component; text value, origin
weft_newton_options of options: double tolerance; int iterations, load_steps
weft_problem_iteration: int step, iteration, linear_iterations, method; double residual, scale, damping
weft_problem_newton_report: weft_problem_iteration* iterations; int n; bool converged, to_rounding; int outcome
weft_problem_report: weft_problem_choice* choice; weft_cg_result* result; double asymmetry; weft_problem_newton_report* newton
weft_transient_inputs: address memories; int n; address set, user
weft_transient_choice: address choose, found, user; int next, next_after
weft_transient_problem: address space, bc, fields; int n_fields; address open; int n_open; address constraints, point_loads, parts; int
    n_parts; bool is_nonlinear; int scheme; double theta, start, end, tolerance, dt; int64 checkpoints; double newton_tolerance; int newton_iterations; address u,
    previous, length, time; weft_transient_inputs moving; int assembly, mass_assembly; weft_cg_options solver; int preconditioner; bool
    is_exchangeable; address hierarchy; int smoother_degree; text petsc_options; weft_transient_choice choice
weft_problem_files_options of options: text output; int output_every; double output_interval; bool overwrite; text statement, checkpoint;
    int checkpoint_every; text resume
weft_flow: text name; double[16] sums; bool[16] is_free
weft_flows: weft_flow* list; int n
weft_problem_balance: bool is_made; weft_flows reactions, exchange; double[16] loads, equation, storage, sums, sizes; bool in_time;
    char[200] loads_reason
weft_derived_quantity: int kind; text name, group, text, origin
weft_derive_problem: address space, cells, u, functions; int n_functions; address constants; int n_constants; text solution; address
    aliases; int n_aliases; bool in_time; int projection
weft_derived_value: text name, group; int kind, n_components; double[9] integral; double least, greatest; double[3] least_at, greatest_at
weft_transient_state: int64 step; double t, dt; int outcome, solver, iterations, newton; int64 all_iterations, all_newton, n_rejected;
    double error
weft_field: text name; bool on_cells; int n_components; double* values; text text
weft_advection_diffusion_problem: address space; weft_expression* velocity, diffusivity; weft_expression capacity, source, initial; int
    n_velocity, n_diffusivity; weft_condition* conditions; int n_conditions; double* initial_values; int preconditioner; address
    hierarchy; int smoother_degree; double dt, theta; int splitting, runge_kutta; bool lumped; int reassemble, assembly; double tolerance;
    int max_iterations
weft_step_state: int64 step; double t; int outcome; int[4] advection; int diffusion; int64 iterations
weft_preconditioner_info: text name, help; bool needs_matrix, coarsens, needs_levels, needs_host, reads_points, any_sign
weft_time_scheme_info: text name, help; int order, n_stages, n_before; bool takes_theta, damps
weft_entity_dofs: address connectivity; int* indices; bool is_own; address share, marks
weft_ufl_subspace: int family, degree, components, first_value
weft_ufl_set: text nodes, connectivity; int width, n; weft_ufl_subspace[16] sub; bool flat; int n_values
weft_ufl_part: int domain, id; int[2] facets; bool has_matrix, is_symmetric, has_vector, has_action, has_mass, has_diagonal; text script;
    address kernels
weft_ufl_value: text name, formula, origin
weft_ufl_problem: text matrix, vector, mass, unused; bool nonlinear; int cell, components, n_sets, geometry, n_parts; weft_ufl_set* sets;
    weft_ufl_part* parts; weft_ufl_value* values; int n_values; text solution
weft_ufl_options of options: weft_monitor* monitor; int degrees
weft_bind_measure: text name, group, origin
weft_problem_value: text name; weft_input_source source
weft_bind_options of options: text file; weft_bind_measure* measures; int n_measures; weft_problem_value* values; int n_values;
    weft_expression* expressions; int n_expressions; weft_parameter* parameters; int n_parameters; bool in_time, has_time, has_mass; text mass,
    previous, matrix, vector, sum; bool nonlinear, names_options
weft_eigen_options of options: int n, which; double shift; int n_columns, length
weft_eigen_report: int outcome, n; double* values, residuals, errors; int* clusters; double next; int cut, n_rigid; int64 n_dofs; double*
    vectors; int iterations, n_columns; int64 applications; double seconds; text method; char[200] reason; char[120] factors; double
    factor_seconds; int n_directions; double* participations, effective_masses, total_masses; weft_problem_choice* choice
weft_gradient_options of options: text functional; weft_bind_options* bind; weft_problem_options* solve; address transient; bool
    over_time; text* controls; int n_controls
weft_gradient_of: address problem; int64 n; double* derivative, gradient; int n_numbers; double[16] numbers; int outcome
weft_ufl_form_info: text name; int rank, n_integrals, n_coefficients, n_constants
weft_step_scheme_info: text name, help, title
weft_method_info: text name, title, help; bool needs_symmetric, needs_definite
"""
_types: Dict[str, Any] = {"int": c_int, "bool": c_bool, "char": c_char, "text": c_char_p, "address": c_void_p, "double": c_double,
                          "size": c_size_t, "int64": c_int64, "void": None, "LOG": LOG, "PROGRESS": PROGRESS}


def type_of(text: str) -> Any:
    """The type of ctypes: "int", "weft_mesh**", "char[256]"."""
    name, stars, count = re.fullmatch(r"(\w+)(\**)(?:\[(\d+)\])?", text).groups()  # type: ignore[union-attr]
    kind = _types[name]
    for _ in stars:
        kind = POINTER(kind)
    return kind * int(count) if count else kind


for _row in _TABLE.strip().replace("\n    ", " ").split("\n"):
    _name, _, _members = _row.partition(": ")
    _name, _, _options = _name.partition(" of ")
    _fields = [("size", c_size_t)] if _options else []
    for _part in _members.split("; "):
        _kind, _, _names = _part.partition(" ")
        _fields += [(one, type_of(_kind)) for one in _names.split(", ")]
    _types[_name] = globals()[_name] = type(_name, (_Options if _options else Structure,), {"_fields_": _fields})


def __getattr__(name: str) -> Any:
    """None besides: for type checkers, to whom the structures are Any."""
    raise AttributeError(name)
