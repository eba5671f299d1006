# The installed headers. What they declare is what libweft.so exports (cmake/interface.cmake).
set(weft_headers
    core/weft_base.h core/weft_cache.h core/weft_comm.h core/weft_core.h core/weft_device.h core/weft_device_graph.h
    core/weft_escape.h core/weft_launch.h core/weft_memory_estimate.h core/weft_tuning.h
    gemm/weft_gemm.h
    fusion/weft_compilation.h fusion/weft_compile.h fusion/weft_fusion.h fusion/weft_library.h
    fusion/weft_outline.h fusion/weft_program.h fusion/weft_share.h fusion/cost/cost.h fusion/cost/measured.h
    fusion/tune/tune.h fusion/tune/tuned.h
    fem/weft_bc.h fem/weft_constraint.h fem/weft_data.h fem/weft_derive.h fem/weft_eigen.h fem/weft_element.h
    fem/weft_family.h
    fem/weft_fem.h fem/weft_form.h fem/weft_function.h fem/weft_hierarchy.h fem/weft_locate.h
    fem/weft_mesh.h fem/weft_modes.h fem/weft_newton.h fem/weft_operator.h fem/weft_order.h fem/weft_pattern.h
    fem/weft_point_load.h
    fem/weft_preconditioner.h
    fem/weft_problem.h fem/weft_problem_constraints.h fem/weft_problem_files.h fem/weft_problem_ranks.h fem/weft_problem_results.h fem/weft_result.h fem/weft_solver.h fem/weft_space.h fem/weft_time.h
    fem/weft_time_scheme.h
    fem/weft_transient.h
    forms/weft_bind.h forms/weft_gradient.h forms/weft_interface.h forms/weft_ufl.h)
