"""The structures of Weft's public headers, for ctypes. A test compares them with the headers."""
# Decision: docs/decisions/0050-python-calls-through-ctypes.md

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_void_p, sizeof)
from typing import Any

LOG = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
PROGRESS = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_double)


class _Options(Structure):
    """Options, which begin with their size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(size=sizeof(type(self)), **members)


class weft_error(Structure):
    _fields_ = [("line", c_int), ("column", c_int), ("status", c_int), ("message", c_char * 1024),
                ("file", c_char * 512), ("source_line", c_char * 256), ("hint", c_char * 512)]


class weft_processes(Structure):
    _fields_ = [("size", c_int), ("rank", c_int), ("variable", c_char_p)]


class weft_mpi_given(Structure):
    _fields_ = [("handle", c_int), ("version", c_char_p)]


class weft_interface_size(Structure):
    _fields_ = [("name", c_char_p), ("size", c_size_t)]


class weft_text(Structure):
    _fields_ = [("data", c_char_p), ("length", c_size_t), ("capacity", c_size_t), ("failed", c_bool)]


class weft_monitor(Structure):
    _fields_ = [("log", LOG), ("progress", PROGRESS), ("user", c_void_p), ("cancelled", POINTER(c_int))]


class weft_limits(Structure):
    _fields_ = [("kind", c_int), ("execution", c_int), ("records_only", c_bool), ("language", c_char_p),
                ("name", c_char * 128), ("lanes_double", c_int), ("lanes_float", c_int), ("threads", c_int),
                ("multiprocessors", c_int), ("register_bytes", c_size_t), ("cluster_blocks", c_int),
                ("onchip_bytes", c_size_t), ("l2_bytes", c_size_t), ("memory_bytes", c_size_t),
                ("bandwidth", c_double), ("flops", c_double), ("launch_seconds", c_double)]


class weft_device_options(_Options):
    _fields_ = [("size", c_size_t), ("monitor", POINTER(weft_monitor)), ("cache", c_int), ("cache_directory", c_char_p),
                ("keep_directory", c_char_p), ("compiler", c_char_p), ("instructions", c_char_p)]


class weft_group(Structure):
    _fields_ = [("name", c_char * 256), ("dimension", c_int), ("first_facet", c_int64),
                ("n_facets", c_int64), ("first_cell", c_int64), ("n_cells", c_int64), ("first_point", c_int64), ("n_points", c_int64), ("number", c_int)]


class weft_point_lists(Structure):
    _fields_ = [("n_nodes", c_int64), ("n_pairs", c_int64), ("nodes", c_void_p), ("pairs", c_void_p)]


class weft_mesh(Structure):
    _fields_ = [("dimension", c_int), ("cell", c_int), ("n_nodes", c_int64), ("n_cells", c_int64), ("x", POINTER(c_double)),
                ("cells", POINTER(c_int32)), ("curve", POINTER(c_double)), ("n_facets", c_int64),
                ("n_boundary_facets", c_int64), ("facets", POINTER(c_int32)), ("n_groups", c_int), ("groups", POINTER(weft_group)),
                ("group_facets", POINTER(c_int32)), ("group_cells", POINTER(c_int32)),
                ("points", weft_point_lists), ("n_flipped_cells", c_int64), ("n_dropped_nodes", c_int64), ("n_ignored_facets", c_int64),
                ("n_coincident", c_int64),
                ("source", c_char * 512), ("part", c_void_p), ("is_sorted", c_bool)]


class weft_mesh_data(Structure):
    _fields_ = [("dimension", c_int), ("cell", c_int), ("n_nodes", c_int64), ("n_cells", c_int64), ("x", c_void_p),
                ("cells", c_void_p), ("degree", c_int), ("n_groups", c_int), ("groups", c_void_p),
                ("n_group_facets", c_int64), ("group_facet_nodes", c_void_p), ("n_group_cells", c_int64), ("group_cells", c_void_p),
                ("points", weft_point_lists)]


class weft_mesh_options(_Options):
    _fields_ = [("size", c_size_t), ("cell_size", c_double), ("memory", c_double), ("seconds", c_double), ("trust_geo", c_bool),
                ("device", c_void_p)]


class weft_family_info(Structure):
    _fields_ = [("words", c_char_p), ("prefix", c_char_p), ("listed", c_char_p), ("names", POINTER(c_char_p)),
                ("broken", c_int), ("map", c_int), ("is_vector", c_bool), ("is_continuous", c_bool), ("is_lattice", c_bool), ("is_global", c_bool),
                ("at_points", c_bool), ("has_degree", c_bool)]


class weft_element_kind(Structure):
    _fields_ = [("family", c_int), ("degree", c_int)]


class weft_hierarchy_level(Structure):
    _fields_ = [("mesh", POINTER(weft_mesh)), ("parents", POINTER(c_int32))]


class weft_hierarchy(Structure):
    _fields_ = [("n_levels", c_int), ("levels", POINTER(weft_hierarchy_level)), ("order_seconds", c_double)]


class weft_hierarchy_options(_Options):
    _fields_ = [("size", c_size_t), ("times", c_int), ("ordered", c_bool), ("ordering", c_int), ("part_nodes", c_int64)]


class weft_saving(Structure):
    _fields_ = [("n_calls", c_int), ("n_kernels", c_int), ("n_unfused", c_int), ("calls", c_char * 256),
                ("index_set", c_char * 64), ("bytes", c_double), ("bytes_unfused", c_double)]


class weft_context(Structure):
    _fields_ = [("device", c_void_p), ("library", c_void_p), ("plan", c_int), ("monitor", POINTER(weft_monitor)),
                ("compile_seconds", c_double), ("plan_seconds", c_double), ("n_kernels", c_int),
                ("saving", weft_saving), ("saving_script", c_char * 96), ("data", c_void_p), ("tuning", c_void_p),
                ("comm", c_void_p)]


class weft_fragment(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p)]


class weft_outline_name(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("in_loop", c_bool), ("accumulated", c_bool), ("read", c_bool)]


class weft_expression(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("origin", c_char_p)]


class weft_parameter(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int)]


class weft_compile_options(_Options):
    _fields_ = [("size", c_size_t), ("plan", c_int), ("scatter", c_int), ("single", c_bool), ("expressions", POINTER(weft_expression)),
                ("n_expressions", c_int), ("parameters", POINTER(weft_parameter)), ("n_parameters", c_int),
                ("variants", c_void_p), ("n_variants", c_int), ("narrow", c_char_p), ("operators", c_void_p),
                ("n_operators", c_int), ("rematerialise", c_int), ("iterations", c_int), ("elements", c_int64), ("forced_plan", c_char_p),
                ("max_fusion", c_int), ("costs", c_void_p), ("alternative", c_int), ("patch_nodes", c_int),
                ("predicated", c_bool), ("cover", c_char_p), ("tuned", c_void_p), ("runs_once", c_bool),
                ("distributed", c_bool), ("replicated", c_bool), ("plans", c_void_p),
                ("corrected", c_bool)]


class weft_gemm_matrix(Structure):
    _fields_ = [("memory", c_void_p), ("first", c_int64), ("ld", c_int64), ("stride", c_int64)]


class weft_gemm_product(Structure):
    _fields_ = [("type", c_int), ("op_a", c_int), ("op_b", c_int), ("m", c_int64), ("n", c_int64), ("k", c_int64),
                ("alpha", c_double * 2), ("beta", c_double * 2), ("a", weft_gemm_matrix), ("b", weft_gemm_matrix),
                ("c", weft_gemm_matrix)]


class weft_search_script(Structure):
    _fields_ = [("library", c_void_p), ("fragments", POINTER(weft_fragment)), ("n_fragments", c_int),
                ("options", POINTER(weft_compile_options))]


class weft_tune_options(_Options):
    _fields_ = [("size", c_size_t), ("seconds", c_double), ("elements", c_int64), ("single", c_bool), ("tuning", c_void_p),
                ("measure", c_void_p), ("user", c_void_p)]


class weft_name_info(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("over", c_char_p), ("to", c_char_p), ("width", c_int),
                ("rank", c_int), ("sizes", c_int * 4), ("returned", c_bool), ("sparse", c_bool), ("value", c_int)]


class weft_form_input(Structure):
    _fields_ = [("name", c_char_p), ("memory", c_void_p)]


class weft_form_connectivity(Structure):
    _fields_ = [("name", c_char_p), ("connectivity", c_void_p)]


class weft_form(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("dofs", c_void_p), ("points", c_void_p),
                ("inputs", POINTER(weft_form_input)), ("n_inputs", c_int), ("expressions", POINTER(weft_expression)), ("n_expressions", c_int),
                ("parameters", POINTER(weft_parameter)), ("n_parameters", c_int), ("product", c_char_p),
                ("action", c_char_p), ("diagonal", c_char_p), ("components", c_int),
                ("connectivities", POINTER(weft_form_connectivity)), ("n_connectivities", c_int),
                ("adds_couplings", c_bool),
                ("kernels", c_void_p), ("facets", c_void_p), ("is_symmetric", c_bool)]


class weft_form_outputs(Structure):
    _fields_ = [("names", POINTER(c_char_p)), ("memories", POINTER(c_void_p)), ("n", c_int),
                ("index_set", c_char_p), ("n_elements", c_int64)]


class weft_condition(Structure):
    _fields_ = [("kind", c_int), ("group", c_char_p), ("value", c_char_p), ("alpha", c_char_p),
                ("origin", c_char_p), ("component", c_int)]


class weft_bc_place(Structure):
    _fields_ = [("first_dof", c_int64), ("n_dofs", c_int64)]


class weft_pattern(Structure):
    _fields_ = [("n_rows", c_int64), ("n_entries", c_int64), ("row_start", POINTER(c_int64)),
                ("columns", POINTER(c_int32))]


class weft_preconditioner_problem(Structure):
    _fields_ = [("op", c_void_p), ("constrained", POINTER(c_int32)), ("n_constrained", c_int64),
                ("pinned", POINTER(c_int32)), ("n_pinned", c_int),
                ("is_general", c_bool), ("project_mean", c_bool), ("space", c_void_p),
                ("spaces", POINTER(c_void_p)), ("n_spaces", c_int),
                ("hierarchy", POINTER(weft_hierarchy)), ("degree", c_int),
                ("full_cycles", c_int), ("levels", c_int), ("double_levels", c_bool), ("is_final", c_bool),
                ("coarser", c_void_p), ("petsc_options", c_char_p), ("monitor", POINTER(weft_monitor))]


class weft_cg_options(_Options):
    _fields_ = [("size", c_size_t), ("method", c_int), ("restart", c_int), ("jacobi", c_bool), ("tolerance", c_double),
                ("max_iterations", c_int), ("constrained", POINTER(c_int32)), ("n_constrained", c_int64),
                ("project_mean", c_bool), ("preconditioner", c_void_p), ("full_cycles", c_int),
                ("until_discretisation", c_bool), ("monitor", POINTER(weft_monitor)),
                ("spaces", POINTER(c_void_p)), ("n_spaces", c_int)]


class weft_cg_result(Structure):
    _fields_ = [("outcome", c_int), ("breakdown", c_char_p), ("iterations", c_int), ("residual", c_double),
                ("history", POINTER(c_double)), ("to_rounding", c_bool), ("backward_error", c_double), ("jump", c_double),
                ("discretisation_error", c_double), ("algebraic_error", c_double)]


class weft_input_source(Structure):
    _fields_ = [("text", c_char_p), ("origin", c_char_p), ("shown", c_char_p), ("file", c_char_p), ("in_time", c_bool),
                ("memory", c_void_p)]


class weft_problem_options(_Options):
    _fields_ = [("size", c_size_t), ("method", c_int), ("assembly", c_int), ("preconditioner", c_int), ("earlier", c_int),
                ("smoother_degree", c_int), ("restart", c_int), ("tolerance", c_double), ("until_discretisation", c_bool),
                ("max_iterations", c_int), ("tune", c_int), ("petsc_options", c_char_p)]


class weft_problem_choice(Structure):
    _fields_ = [("method", c_int), ("assembly", c_int), ("preconditioner", c_int), ("restart", c_int),
                ("basis_is_too_large", c_bool), ("bytes", c_size_t), ("expected", c_double),
                ("next", c_int), ("next_after", c_int), ("method_reason", c_char * 200),
                ("preconditioner_reason", c_char * 200)]


class weft_constraint(_Options):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("group", c_char_p), ("other", c_char_p), ("point", c_double * 3),
                ("component", c_int), ("value", c_char_p), ("origin", c_char_p)]


class weft_point_load(_Options):
    _fields_ = [("size", c_size_t), ("group", c_char_p), ("point", c_double * 3), ("component", c_int), ("value", c_char_p),
                ("origin", c_char_p)]


class weft_newton_options(_Options):
    _fields_ = [("size", c_size_t), ("tolerance", c_double), ("iterations", c_int), ("load_steps", c_int)]


class weft_problem_iteration(Structure):
    _fields_ = [("step", c_int), ("iteration", c_int), ("linear_iterations", c_int), ("method", c_int),
                ("residual", c_double), ("scale", c_double), ("damping", c_double)]


class weft_problem_newton_report(Structure):
    _fields_ = [("iterations", POINTER(weft_problem_iteration)), ("n", c_int), ("converged", c_bool), ("to_rounding", c_bool),
                ("outcome", c_int)]


class weft_problem_report(Structure):
    _fields_ = [("choice", POINTER(weft_problem_choice)), ("result", POINTER(weft_cg_result)), ("asymmetry", c_double),
                ("newton", POINTER(weft_problem_newton_report))]


class weft_transient_inputs(Structure):
    _fields_ = [("memories", c_void_p), ("n", c_int), ("set", c_void_p), ("user", c_void_p)]


class weft_transient_choice(Structure):
    _fields_ = [("choose", c_void_p), ("found", c_void_p), ("user", c_void_p), ("next", c_int), ("next_after", c_int)]


class weft_transient_problem(Structure):
    _fields_ = [("space", c_void_p), ("bc", c_void_p), ("fields", c_void_p), ("n_fields", c_int), ("open", c_void_p),
                ("n_open", c_int), ("constraints", c_void_p), ("point_loads", c_void_p), ("parts", c_void_p),
                ("n_parts", c_int), ("is_nonlinear", c_bool), ("scheme", c_int), ("theta", c_double), ("start", c_double),
                ("end", c_double), ("tolerance", c_double), ("dt", c_double), ("newton_tolerance", c_double),
                ("newton_iterations", c_int), ("u", c_void_p), ("previous", c_void_p), ("length", c_void_p),
                ("time", c_void_p), ("moving", weft_transient_inputs), ("assembly", c_int), ("mass_assembly", c_int),
                ("solver", weft_cg_options), ("preconditioner", c_int), ("is_exchangeable", c_bool),
                ("hierarchy", c_void_p), ("smoother_degree", c_int), ("petsc_options", c_char_p),
                ("choice", weft_transient_choice)]


class weft_problem_files_options(_Options):
    _fields_ = [("size", c_size_t), ("output", c_char_p), ("output_every", c_int), ("output_interval", c_double),
                ("overwrite", c_bool), ("statement", c_char_p), ("checkpoint", c_char_p), ("checkpoint_every", c_int),
                ("resume", c_char_p)]


class weft_flow(Structure):
    _fields_ = [("name", c_char_p), ("sums", c_double * 16), ("is_free", c_bool * 16)]


class weft_flows(Structure):
    _fields_ = [("list", POINTER(weft_flow)), ("n", c_int)]


class weft_problem_balance(Structure):
    _fields_ = [("is_made", c_bool), ("reactions", weft_flows), ("exchange", weft_flows), ("loads", c_double * 16),
                ("equation", c_double * 16), ("storage", c_double * 16), ("sums", c_double * 16), ("sizes", c_double * 16),
                ("in_time", c_bool), ("loads_reason", c_char * 200)]


class weft_derived_quantity(Structure):
    _fields_ = [("kind", c_int), ("name", c_char_p), ("group", c_char_p), ("text", c_char_p), ("origin", c_char_p)]


class weft_derive_problem(Structure):
    _fields_ = [("space", c_void_p), ("cells", c_void_p), ("u", c_void_p), ("functions", c_void_p), ("n_functions", c_int),
                ("constants", c_void_p), ("n_constants", c_int), ("solution", c_char_p), ("aliases", c_void_p),
                ("n_aliases", c_int), ("in_time", c_bool), ("projection", c_int)]


class weft_derived_value(Structure):
    _fields_ = [("name", c_char_p), ("group", c_char_p), ("kind", c_int), ("n_components", c_int), ("integral", c_double * 9),
                ("least", c_double), ("greatest", c_double), ("least_at", c_double * 3), ("greatest_at", c_double * 3)]


class weft_transient_state(Structure):
    _fields_ = [("step", c_int64), ("t", c_double), ("dt", c_double), ("outcome", c_int), ("solver", c_int),
                ("iterations", c_int), ("newton", c_int), ("all_iterations", c_int64), ("all_newton", c_int64),
                ("n_rejected", c_int64), ("error", c_double)]


class weft_field(Structure):
    _fields_ = [("name", c_char_p), ("on_cells", c_bool), ("n_components", c_int), ("values", POINTER(c_double)),
                ("text", c_char_p)]


class weft_advection_diffusion_problem(Structure):
    _fields_ = [("space", c_void_p), ("velocity", POINTER(weft_expression)), ("diffusivity", POINTER(weft_expression)),
                ("capacity", weft_expression), ("source", weft_expression), ("initial", weft_expression),
                ("n_velocity", c_int), ("n_diffusivity", c_int), ("conditions", POINTER(weft_condition)),
                ("n_conditions", c_int), ("initial_values", POINTER(c_double)), ("preconditioner", c_int),
                ("hierarchy", c_void_p), ("smoother_degree", c_int), ("dt", c_double), ("theta", c_double),
                ("splitting", c_int), ("runge_kutta", c_int), ("lumped", c_bool), ("reassemble", c_int),
                ("assembly", c_int), ("tolerance", c_double), ("max_iterations", c_int)]


class weft_step_state(Structure):
    _fields_ = [("step", c_int64), ("t", c_double), ("outcome", c_int), ("advection", c_int * 4),
                ("diffusion", c_int), ("iterations", c_int64)]


class weft_preconditioner_info(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("needs_matrix", c_bool), ("coarsens", c_bool),
                ("needs_levels", c_bool), ("needs_host", c_bool), ("reads_points", c_bool), ("any_sign", c_bool)]


class weft_time_scheme_info(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("order", c_int), ("n_stages", c_int), ("n_before", c_int),
                ("takes_theta", c_bool), ("damps", c_bool)]


class weft_entity_dofs(Structure):
    _fields_ = [("connectivity", c_void_p), ("indices", POINTER(c_int32)), ("is_own", c_bool), ("share", c_void_p),
                ("marks", c_void_p)]


class weft_ufl_subspace(Structure):
    _fields_ = [("family", c_int), ("degree", c_int), ("components", c_int), ("first_value", c_int)]


class weft_ufl_set(Structure):
    _fields_ = [("nodes", c_char_p), ("connectivity", c_char_p), ("width", c_int), ("n", c_int),
                ("sub", weft_ufl_subspace * 16), ("flat", c_bool), ("n_values", c_int)]


class weft_ufl_part(Structure):
    _fields_ = [("domain", c_int), ("id", c_int), ("facets", c_int * 2), ("has_matrix", c_bool), ("is_symmetric", c_bool), ("has_vector", c_bool), ("has_action", c_bool),
                ("has_mass", c_bool), ("has_diagonal", c_bool), ("script", c_char_p), ("kernels", c_void_p)]


class weft_ufl_value(Structure):
    _fields_ = [("name", c_char_p), ("formula", c_char_p), ("origin", c_char_p)]


class weft_ufl_problem(Structure):
    _fields_ = [("matrix", c_char_p), ("vector", c_char_p), ("mass", c_char_p), ("unused", c_char_p), ("nonlinear", c_bool),
                ("cell", c_int), ("components", c_int), ("n_sets", c_int), ("geometry", c_int), ("n_parts", c_int),
                ("sets", POINTER(weft_ufl_set)), ("parts", POINTER(weft_ufl_part)), ("values", POINTER(weft_ufl_value)),
                ("n_values", c_int), ("solution", c_char_p)]


class weft_ufl_options(_Options):
    _fields_ = [("size", c_size_t), ("monitor", POINTER(weft_monitor)), ("degrees", c_int)]


class weft_bind_measure(Structure):
    _fields_ = [("name", c_char_p), ("group", c_char_p), ("origin", c_char_p)]


class weft_problem_value(Structure):
    _fields_ = [("name", c_char_p), ("source", weft_input_source)]


class weft_bind_options(_Options):
    _fields_ = [("size", c_size_t), ("file", c_char_p), ("measures", POINTER(weft_bind_measure)), ("n_measures", c_int),
                ("values", POINTER(weft_problem_value)), ("n_values", c_int), ("expressions", POINTER(weft_expression)),
                ("n_expressions", c_int), ("parameters", POINTER(weft_parameter)), ("n_parameters", c_int),
                ("in_time", c_bool), ("has_mass", c_bool), ("mass", c_char_p), ("previous", c_char_p), ("matrix", c_char_p),
                ("vector", c_char_p), ("sum", c_char_p), ("nonlinear", c_bool), ("names_options", c_bool)]


class weft_eigen_options(_Options):
    _fields_ = [("size", c_size_t), ("n", c_int), ("which", c_int), ("shift", c_double), ("n_columns", c_int), ("length", c_int)]


class weft_eigen_report(Structure):
    _fields_ = [("outcome", c_int), ("n", c_int), ("values", POINTER(c_double)), ("residuals", POINTER(c_double)),
                ("errors", POINTER(c_double)), ("clusters", POINTER(c_int)), ("next", c_double), ("cut", c_int),
                ("n_rigid", c_int), ("n_dofs", c_int64), ("vectors", POINTER(c_double)), ("iterations", c_int),
                ("n_columns", c_int), ("applications", c_int64), ("seconds", c_double),
                ("method", c_char_p), ("reason", c_char * 200), ("factors", c_char * 120), ("factor_seconds", c_double),
                ("choice", POINTER(weft_problem_choice))]


class weft_gradient_options(_Options):
    _fields_ = [("size", c_size_t), ("functional", c_char_p), ("bind", POINTER(weft_bind_options)),
                ("solve", POINTER(weft_problem_options))]


class weft_gradient_of(Structure):
    _fields_ = [("problem", c_void_p), ("n", c_int64), ("derivative", POINTER(c_double)), ("gradient", POINTER(c_double)),
                ("n_numbers", c_int), ("numbers", c_double * 16), ("outcome", c_int)]


class weft_ufl_form_info(Structure):
    _fields_ = [("name", c_char_p), ("rank", c_int), ("n_integrals", c_int), ("n_coefficients", c_int),
                ("n_constants", c_int)]


class weft_step_scheme_info(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("title", c_char_p)]


class weft_method_info(Structure):
    _fields_ = [("name", c_char_p), ("title", c_char_p), ("help", c_char_p), ("needs_symmetric", c_bool),
                ("needs_definite", c_bool)]
