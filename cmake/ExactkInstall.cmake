# What `cmake --install` puts under a prefix, which may be moved afterwards: the tool, the stored cases, and a CMake
# package with exactk::oracle and exactk::abi for tests outside the project. docs/INSTALL.md describes it.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The installed headers, also in the build folder: there the ABI header has the name that plug-ins include it by.
# Layer paths such as "oracle/topk.h" would claim a top folder of the outside world, so they become "exactk/oracle/topk.h".
set(exactk_include_dir ${PROJECT_BINARY_DIR}/include)
configure_file(${PROJECT_SOURCE_DIR}/kernels/abi/exactk_abi.h ${exactk_include_dir}/exactk/exactk_abi.h COPYONLY)
install(FILES ${exactk_include_dir}/exactk/exactk_abi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exactk)
foreach(header IN ITEMS
    block_table.h
    combine_indices.h
    expected.h
    judge.h
    logit_order.h
    row_length.h
    swa_window.h
    topk.h
    topk_contract.h
    verdict.h)
  set(source ${PROJECT_SOURCE_DIR}/oracle/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REPLACE "#include \"oracle/" "#include \"exactk/oracle/" text "${text}")
  file(CONFIGURE OUTPUT ${exactk_include_dir}/exactk/oracle/${header} CONTENT "${text}" @ONLY)
  install(FILES ${exactk_include_dir}/exactk/oracle/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/exactk/oracle)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/exactk)
set_target_properties(exactk_oracle PROPERTIES EXPORT_NAME oracle)
set_target_properties(exactk_abi PROPERTIES EXPORT_NAME abi)
install(TARGETS exactk_oracle exactk_abi EXPORT exactkTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT exactkTargets NAMESPACE exactk:: FILE exactkTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/exactkConfig.cmake.in ${PROJECT_BINARY_DIR}/exactkConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/exactkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/exactkConfig.cmake ${PROJECT_BINARY_DIR}/exactkConfigVersion.cmake
  DESTINATION ${package_dir})

install(TARGETS exactk RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/fixtures/cases DESTINATION ${CMAKE_INSTALL_DATADIR}/exactk)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The host device is shared libraries, which the tool finds from where it lies; libraries of a GPU's tool kit stay where
# the build found them.
set(private_library_dir ${CMAKE_INSTALL_LIBDIR}/exactk)
cmake_path(RELATIVE_PATH private_library_dir BASE_DIRECTORY ${CMAKE_INSTALL_BINDIR} OUTPUT_VARIABLE from_tool)
set_target_properties(exactk PROPERTIES INSTALL_RPATH "$ORIGIN/${from_tool}" INSTALL_RPATH_USE_LINK_PATH ON)
if(host IN_LIST EXACTK_DEVICES)
  install(TARGETS exactk_host_device exactk_shipped_host exactk_kernels_host LIBRARY DESTINATION ${private_library_dir})
  set_target_properties(exactk_host_device exactk_shipped_host exactk_kernels_host PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
