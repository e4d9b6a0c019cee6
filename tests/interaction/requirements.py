"""Every promise that is implemented: where it was made, and which tests prove it.

Tests are named by their path below `tests/`, with `::` and the test's name where one of a file is meant.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise."""

    id: str
    source: str
    promise: str
    tests: tuple[str, ...]


REQUIREMENTS = (
    Requirement(
        id="DOOR-01",
        source="design §4",
        promise="every call passes the same stages in the same order, unary or streaming",
        tests=(
            "kernel/test_conveyor.py::test_a_mutation_passes_all_stages_in_order",
            "kernel/test_conveyor.py::test_a_stream_passes_the_same_stages",
        ),
    ),
    Requirement(
        id="DOOR-02",
        source="design §4",
        promise="a stage that refuses keeps the handler from running, and is recorded",
        tests=(
            "kernel/test_conveyor.py::test_a_refusal_is_recorded_and_nothing_runs",
            "kernel/test_conveyor.py::test_an_error_in_the_policy_denies",
        ),
    ),
    Requirement(
        id="DOOR-03",
        source="design §4",
        promise="arguments forgive what is plain and explain the rest with the nearest right name",
        tests=(
            "kernel/test_arguments.py::test_what_is_plain_is_forgiven",
            "kernel/test_arguments.py::test_what_is_not_plain_is_refused_with_advice",
        ),
    ),
    Requirement(
        id="DOOR-04",
        source="design §4",
        promise="an operation is defined once; schema, tool and catalogue are derived",
        tests=(
            "kernel/test_catalogue.py::test_an_operation_is_found_by_its_name_and_as_a_tool",
            "kernel/test_schema.py::test_titles_null_branches_and_empty_defaults_are_left_out",
        ),
    ),
    Requirement(
        id="DOOR-05",
        source="design §4",
        promise="deadlines and cancellation reach the handler and are recorded",
        tests=(
            "kernel/test_deadlines.py::test_a_deadline_stops_the_handler_and_is_recorded",
            "kernel/test_deadlines.py::test_cancellation_reaches_the_handler_and_is_recorded",
        ),
    ),
    Requirement(
        id="DOOR-06",
        source="design §4",
        promise="intent is durable before a mutation runs, outcome before it is answered; reads do not wait",
        tests=(
            "kernel/test_records.py::test_the_intent_is_durable_before_the_handler_runs_and_the_outcome_before_the_answer",
            "kernel/test_records.py::test_a_read_is_recorded_without_waiting",
        ),
    ),
    Requirement(
        id="DOOR-07",
        source="002 §23.3",
        promise="every answer is an envelope of result and meta",
        tests=(
            "kernel/test_envelope.py::test_a_result_has_its_meta_and_nothing_that_says_nothing",
            "surfaces/http/test_rpc.py::test_the_envelope_is_result_and_meta",
        ),
    ),
    Requirement(
        id="DOOR-08",
        source="design §4",
        promise="what needs a person where nobody can be asked is denied",
        tests=(
            "kernel/test_conveyor.py::test_where_nobody_can_be_asked_it_is_a_no",
            "kernel/test_conveyor.py::test_a_person_decides_after_seeing_the_preview",
        ),
    ),
    Requirement(
        id="DOOR-09",
        source="002 §4.2, 000 §26, 001 §4.2",
        promise="one table of errors: unique code and name, retryable, hint, statuses, causes",
        tests=(
            "kernel/test_errors.py::test_codes_and_names_are_unique",
            "kernel/test_errors.py::test_every_error_says_what_to_do_next",
            "kernel/test_errors.py::test_causes_are_named_from_the_nearest_on",
        ),
    ),
    Requirement(
        id="DOOR-10",
        source="design §5",
        promise="ids are UUIDv7 or say what they name; times have one width; JSON is always UTF-8",
        tests=(
            "kernel/test_ids.py::test_uuid7_has_its_version_and_variant",
            "kernel/test_ids.py::test_times_have_one_width_and_sort_as_they_are",
            "kernel/test_json.py::test_what_is_dumped_can_be_written_as_utf8",
        ),
    ),
    Requirement(
        id="DOOR-11",
        source="002 §23.6",
        promise="cursors are opaque, bound to their question, short-lived and unforgeable",
        tests=(
            "kernel/test_cursor.py::test_every_forged_byte_is_noticed",
            "kernel/test_cursor.py::test_another_scope_is_refused",
            "kernel/test_cursor.py::test_it_lives_for_its_time_and_no_longer",
        ),
    ),
    Requirement(
        id="TRUST-05",
        source="design §7",
        promise="a repository cannot bring its own settings or token",
        tests=("test_app.py::test_settings_that_come_with_the_repository_are_not_the_owners",),
    ),
    Requirement(
        id="KEY-01",
        source="003 §8.7, §9",
        promise="the same key and arguments give the first result; the handler runs once",
        tests=(
            "trust/test_idempotency.py::test_the_same_call_gives_the_first_result_and_runs_once",
            "trust/test_idempotency.py::test_ten_at_once_run_once",
        ),
    ),
    Requirement(
        id="KEY-02",
        source="003 §8.7",
        promise="other arguments under a used key are a conflict and an audit event",
        tests=("trust/test_idempotency.py::test_other_arguments_are_a_conflict_and_an_audit_event",),
    ),
    Requirement(
        id="KEY-03",
        source="design §4",
        promise="a call that was cut off is unknown and not run again by itself",
        tests=("trust/test_idempotency.py::test_what_was_cut_off_by_a_crash_is_unknown_and_not_run_again",),
    ),
    Requirement(
        id="TRUST-01",
        source="design §7",
        promise="reads and workspace writes run; destructive, outward and shell calls are denied unless allowed",
        tests=(
            "trust/test_rules.py::test_the_table",
            "trust/test_rules.py::test_leave_for_one_operation_is_leave_for_that_one",
            "surfaces/mcp/test_trust.py::test_what_destroys_leaves_or_is_a_shell_is_denied",
        ),
    ),
    Requirement(
        id="TRUST-02",
        source="design §4",
        promise="a call's own risk decides, not its operation's",
        tests=("trust/test_rules.py::test_the_assessed_risk_decides_and_not_the_declared_one",),
    ),
    Requirement(
        id="TRUST-03",
        source="design §6",
        promise=".git and .codeplane are written by no operation",
        tests=(
            "trust/test_rules.py::test_paths_that_nobody_writes",
            "trust/test_rules.py::test_no_way_around_leads_into_the_gate",
        ),
    ),
    Requirement(
        id="TRUST-04",
        source="design §7",
        promise="callers over MCP are agents, never the owner; RPC needs the owner's token",
        tests=(
            "trust/test_identity.py::test_an_agent_is_never_the_owner",
            "surfaces/mcp/test_trust.py::test_no_name_makes_an_agent_the_owner",
            "surfaces/http/test_rpc.py::test_without_the_right_token_nothing_is_done_or_recorded",
        ),
    ),
    Requirement(
        id="LOG-01",
        source="design §5, 003 §6",
        promise="sequences are gap-free per stream whoever appends",
        tests=("ledger/test_append.py::test_sequences_have_no_gaps_whoever_appends_at_once",),
    ),
    Requirement(
        id="LOG-02",
        source="design §5",
        promise="append with an expected sequence is all or nothing",
        tests=(
            "ledger/test_append.py::test_expect_is_all_or_nothing",
            "ledger/test_append.py::test_of_many_who_expect_the_same_one_wins",
        ),
    ),
    Requirement(
        id="LOG-03",
        source="design §5",
        promise="appends that wait together are committed together; what is acknowledged is durable",
        tests=(
            "ledger/test_append.py::test_appends_that_wait_together_are_committed_together",
            "ledger/test_durability_order.py::test_every_append_is_synced_before_it_is_acknowledged",
        ),
    ),
    Requirement(
        id="LOG-04",
        source="design §5",
        promise="live tables equal rebuilt ones, whatever happened",
        tests=(
            "work/test_tables.py::test_live_tables_equal_rebuilt_ones",
            "work/test_tables.py::test_retention_really_drops_and_the_tables_follow",
            "ledger/test_projections.py::test_a_rebuild_is_the_newest_snapshot_and_the_events_after_it",
        ),
    ),
    Requirement(
        id="LOG-05",
        source="003 §6, design §5",
        promise="watch resumes after a sequence without loss or repetition, with heartbeats",
        tests=(
            "ledger/test_watch.py::test_whoever_comes_back_again_and_again_while_others_write_misses_nothing",
            "ledger/test_watch.py::test_silence_is_broken_by_heartbeats",
            "ledger/test_query.py::test_every_filter_means_what_it_says",
        ),
    ),
    Requirement(
        id="LOG-06",
        source="003 §6",
        promise="events that are gone are a real gap, and end the watch",
        tests=(
            "ledger/test_watch.py::test_a_gap_is_said_and_ends_the_watch",
            "surfaces/http/test_events.py::test_what_is_gone_is_said_to_be",
        ),
    ),
    Requirement(
        id="LOG-07",
        source="002 §12.5, 003 §9",
        promise="retention by class and by number of tasks, never past a snapshot",
        tests=(
            "ledger/test_retention.py::test_every_class_has_its_own_time",
            "ledger/test_retention.py::test_only_the_newest_tasks_are_kept",
            "ledger/test_retention.py::test_nothing_is_dropped_past_a_snapshot",
        ),
    ),
    Requirement(
        id="LOG-08",
        source="000 §24",
        promise="exported traces rotate at 50 MB with the older ones gzipped",
        tests=("ledger/test_traces.py::test_segments_rotate_at_their_size_and_hold_what_the_log_holds",),
    ),
    Requirement(
        id="LOG-09",
        source="design §5",
        promise="results for keys are kept in a bounded store",
        tests=("ledger/test_blobs.py::test_the_total_is_bounded_and_the_oldest_go_first",),
    ),
    Requirement(
        id="LOG-10",
        source="issue faults",
        promise="forward-only migrations; a newer schema is left alone to the byte",
        tests=(
            "ledger/test_database.py::test_a_newer_schema_is_left_alone_to_the_byte",
            "ledger/test_database.py::test_every_older_schema_becomes_the_present_one",
        ),
    ),
    Requirement(
        id="LOG-11",
        source="issue faults",
        promise="a damaged ledger is told, and salvaged on request, keeping the file",
        tests=(
            "ledger/test_salvage.py::test_what_can_be_read_is_kept_in_unbroken_streams",
            "test_faults.py::test_a_damaged_one_is_salvaged_on_request_only",
        ),
    ),
    Requirement(
        id="LOG-12",
        source="issue faults",
        promise="a full disk refuses writes whole, reads go on, nothing acknowledged is lost",
        tests=(
            "ledger/test_full_disk.py::test_a_full_disk_refuses_appends_whole_and_takes_them_again",
            "test_faults.py::test_reads_go_on_writes_say_so_and_nothing_acknowledged_is_lost",
        ),
    ),
    Requirement(
        id="LOG-13",
        source="design §9",
        promise="nothing acknowledged is lost to kill -9",
        tests=(
            "test_kill_recovery.py::test_three_kills_lose_nothing",
            "soak/test_kills.py",
            "soak/test_witness.py",
            "test_faults.py::test_what_was_acknowledged_survives_every_kill",
        ),
    ),
    Requirement(
        id="LOG-14",
        source="002 §23.6",
        promise="pages of events show the log as it was at the first",
        tests=(
            "ledger/test_operations.py::test_pages_show_the_log_as_it_was_at_the_first",
            "surfaces/mcp/test_cursors.py::test_pages_show_the_log_as_it_was_at_the_first",
        ),
    ),
    Requirement(
        id="TASK-01",
        source="002 §12.2, §23.3",
        promise="a connection has an implicit session with a task; create, close, configure, join",
        tests=(
            "work/test_sessions.py::test_a_connection_has_one_session_and_another_has_another",
            "work/test_sessions.py::test_any_call_can_join_a_session_by_its_id",
            "work/test_sessions.py::test_closing_ends_the_task_and_the_next_call_gets_a_new_one",
        ),
    ),
    Requirement(
        id="TASK-02",
        source="002 §12.3, §23.9",
        promise="budgets are enforced; a used-up task is failed and only reopened explicitly",
        tests=(
            "work/test_budgets.py::test_a_mutation_over_budget_is_refused_and_closes_the_task",
            "work/test_budgets.py::test_only_saying_so_reopens_it",
            "work/test_budgets.py::test_test_runs_are_refused_without_closing_the_task",
            "work/test_budgets.py::test_time_is_a_budget_too",
        ),
    ),
    Requirement(
        id="TASK-03",
        source="002 §12.3",
        promise="fingerprints ignore incidental detail; repetition is signalled",
        tests=(
            "work/test_fingerprints.py::test_incidental_details_do_not_count",
            "work/test_budgets.py::test_the_same_change_twice_is_a_no_op",
            "work/test_budgets.py::test_the_same_failure_after_a_change_is_no_progress",
        ),
    ),
    Requirement(
        id="TASK-04",
        source="002 §12.4, 000 §24",
        promise="a restart closes open tasks as interrupted and resumes none",
        tests=(
            "work/test_recovery.py::test_what_was_open_is_interrupted_and_what_was_running_is_unknown",
            "work/test_recovery.py::test_recovering_twice_adds_nothing",
        ),
    ),
    Requirement(
        id="TASK-05",
        source="002 §23.3",
        promise="idle sessions close",
        tests=("work/test_sessions.py::test_idle_sessions_close_and_busy_ones_stay",),
    ),
    Requirement(
        id="SRV-01",
        source="002 §4.2, §23.8",
        promise="every response names the repository",
        tests=(
            "surfaces/http/test_answers.py::test_every_answer_names_the_repository",
            "surfaces/http/test_answers.py::test_odd_repository_paths",
        ),
    ),
    Requirement(
        id="SRV-02",
        source="design §7",
        promise="Host and Origin are checked against DNS rebinding",
        tests=(
            "surfaces/http/test_guard.py::test_any_other_name_is_refused",
            "surfaces/http/test_guard.py::test_a_page_of_anybody_else_is_not",
        ),
    ),
    Requirement(
        id="SRV-03",
        source="design §7",
        promise="binding beyond loopback is refused; the port is stable with a fallback",
        tests=(
            "surfaces/http/test_binding.py::test_an_address_that_others_can_reach_is_refused",
            "surfaces/http/test_binding.py::test_the_port_is_the_repositorys_own",
            "surfaces/http/test_binding.py::test_another_port_when_it_is_taken",
        ),
    ),
    Requirement(
        id="SRV-04",
        source="002 §23.8",
        promise="/health, /ready, /status and /metrics",
        tests=(
            "surfaces/http/test_probes.py::test_health_says_who_is_there",
            "surfaces/http/test_probes.py::test_ready_when_the_log_can_be_written",
            "surfaces/http/test_probes.py::test_metrics_are_what_prometheus_reads",
            "observe/test_health.py::test_ready_until_a_record_is_lost_and_again_after_one_is_written",
        ),
    ),
    Requirement(
        id="SRV-05",
        source="002 §4.2",
        promise="graceful shutdown: calls finish, streams get `shutdown`, five seconds",
        tests=(
            "surfaces/http/test_shutdown.py::test_calls_finish_streams_are_told_and_nothing_is_left",
            "surfaces/http/test_shutdown.py::test_a_call_that_does_not_end_is_cut_off_and_recorded_so",
        ),
    ),
    Requirement(
        id="SRV-06",
        source="design §7",
        promise="one server a repository, also when many start at once or after kill -9",
        tests=(
            "surfaces/cli/test_up.py::test_of_five_at_once_one_serves",
            "surfaces/cli/test_up.py::test_it_starts_again_at_once_and_mends_what_was_open",
            "adapters/test_file_lock.py",
        ),
    ),
    Requirement(
        id="SRV-07",
        source="002 §4.2",
        promise="logs to several outputs with levels and correlation ids; secrets never",
        tests=(
            "observe/test_logs.py::test_each_output_has_its_own_format_and_level",
            "observe/test_server_log.py::test_calls_can_be_followed_in_every_output",
            "observe/test_logs.py::test_values_of_secret_keys_are_never_written",
        ),
    ),
    Requirement(
        id="SRV-08",
        source="002 §13.3",
        promise="metrics of calls, ledger, sessions and tasks with bounded labels",
        tests=("observe/test_metrics.py",),
    ),
    Requirement(
        id="SRV-09",
        source="design §7",
        promise="a detached server ends when idle, not while somebody is there",
        tests=("surfaces/cli/test_up.py::test_a_detached_server_ends_when_nobody_is_there_and_not_before",),
    ),
    Requirement(
        id="SRV-10",
        source="issue faults",
        promise="bodies, connections and malformed requests are bounded and answered",
        tests=(
            "surfaces/http/test_guard.py::test_a_body_in_pieces_is_cut_off",
            "surfaces/http/test_rpc.py::test_a_malformed_body_is_answered_as_such",
            "surfaces/http/test_guard.py::test_more_requests_at_once_than_allowed_are_told_to_come_again",
        ),
    ),
    Requirement(
        id="SRV-11",
        source="issue faults",
        promise="a .codeplane that is read-only, a file, or forged does no harm",
        tests=(
            "test_faults.py::test_a_folder_that_cannot_be_written",
            "test_faults.py::test_a_file_in_its_place",
            "test_faults.py::test_no_forged_file_is_believed",
            "adapters/test_disk.py::test_each_refusal_has_its_name",
        ),
    ),
    Requirement(
        id="SRV-12",
        source="003 §6",
        promise="the log as server-sent events, resumed without loss",
        tests=("surfaces/http/test_events.py::test_going_on_after_the_last_one_loses_and_repeats_nothing",),
    ),
    Requirement(
        id="CLI-01",
        source="002 §4.2",
        promise="init creates, lists and registers; again it changes nothing; git stays clean",
        tests=(
            "surfaces/cli/test_init.py::test_first_everything_is_created_then_nothing_changes",
            "surfaces/cli/test_init.py::test_git_does_not_see_it",
            "surfaces/cli/test_init.py::test_clients_are_registered_when_told_to",
        ),
    ),
    Requirement(
        id="CLI-02",
        source="issue CLI",
        promise="clients are registered from one table, keeping comments and other entries",
        tests=(
            "surfaces/cli/test_clients.py::test_each_client_gets_the_entry_it_documents",
            "surfaces/cli/test_registration.py::test_uninstall_takes_out_our_entry_and_only_that",
            "surfaces/cli/test_jsonc.py::test_adding_keeps_every_comment_and_every_other_entry",
        ),
    ),
    Requirement(
        id="CLI-03",
        source="002 §4.2",
        promise="status and doctor with --json, --verbose, --follow, --logs",
        tests=(
            "surfaces/cli/test_status.py::test_for_programs",
            "surfaces/cli/test_status.py::test_follow_prints_the_log_as_it_grows",
            "surfaces/cli/test_doctor.py::test_a_healthy_server",
            "surfaces/cli/test_doctor.py::test_the_recent_log_is_added",
        ),
    ),
    Requirement(
        id="CLI-04",
        source="issue CLI",
        promise="call reaches any operation through the server or embedded; --json is the envelope",
        tests=(
            "surfaces/cli/test_call.py::test_text_for_people_and_the_envelope_for_programs",
            "surfaces/cli/test_call.py::test_text_json_and_nested_keys",
            "surfaces/cli/test_call.py::test_many_at_once_take_turns",
        ),
    ),
    Requirement(
        id="CLI-05",
        source="issue CLI",
        promise="log shows the ledger with filters, --follow and --json",
        tests=(
            "surfaces/cli/test_log.py::test_filters",
            "surfaces/cli/test_log.py::test_what_happens_next_is_printed_at_once",
        ),
    ),
    Requirement(
        id="CLI-06",
        source="design §8, issue",
        promise="help and the shim import nothing slow",
        tests=(
            "surfaces/cli/test_help.py::test_help_imports_nothing_slow",
            "surfaces/cli/test_help.py::test_the_shim_imports_less_than_that",
        ),
    ),
    Requirement(
        id="CLI-07",
        source="issue CLI",
        promise="the shim relays bytes, finds or starts the server, and ends clearly",
        tests=(
            "surfaces/cli/test_shim.py::test_both_directions_until_the_client_has_said_everything",
            "surfaces/cli/test_shim.py::test_two_at_once_start_one_server_between_them",
            "surfaces/cli/test_shim.py::test_the_end_of_the_server_is_an_error_with_what_to_do",
        ),
    ),
    Requirement(
        id="CLI-08",
        source="002 §4.2",
        promise="settings: --set over environment over repository over user over defaults",
        tests=(
            "adapters/test_yaml_config.py::test_each_source_is_stronger_than_the_one_before",
            "surfaces/cli/test_up.py::test_the_nearer_source_wins",
            "surfaces/cli/test_up.py::test_an_unknown_key_is_named_with_its_place",
            "test_app.py::test_names_that_are_not_there_are_refused",
        ),
    ),
    Requirement(
        id="CLI-09",
        source="issue CLI",
        promise="uninstall takes back what init and up put there, after asking",
        tests=(
            "surfaces/cli/test_init.py::test_it_asks_and_without_an_answer_changes_nothing",
            "surfaces/cli/test_init.py::test_yes_takes_back_what_is_this_repositorys",
        ),
    ),
    Requirement(
        id="MCP-01",
        source="002 §23.2",
        promise="the conformance suite passes what applies, for both protocol versions",
        tests=(
            "clients/test_conformance.py::test_what_applies_passes",
            "clients/test_conformance.py::test_every_scenario_of_the_suite_is_accounted_for",
        ),
    ),
    Requirement(
        id="MCP-02",
        source="issue MCP",
        promise="third-party clients connect and call",
        tests=(
            "clients/test_inspector.py::test_a_tool_is_called",
            "clients/test_claude_code.py::test_it_connects",
            "clients/test_gemini.py::test_it_connects",
        ),
    ),
    Requirement(
        id="MCP-03",
        source="issue MCP",
        promise="Claude Code's model receives what our tool said",
        tests=("clients/test_claude_code.py::test_its_model_gets_what_the_tool_said",),
    ),
    Requirement(
        id="MCP-04",
        source="design §4",
        promise="tools by toolset; the default list is small and pinned",
        tests=(
            "surfaces/mcp/test_tools.py::test_the_default_list_is_the_one_in_the_snapshot",
            "surfaces/mcp/test_tools.py::test_the_default_list_is_small",
            "surfaces/mcp/test_tools.py::test_toolsets_and_families_are_chosen_by_name",
        ),
    ),
    Requirement(
        id="MCP-05",
        source="design §4",
        promise="compact text alone; structure on request",
        tests=(
            "surfaces/mcp/test_answers.py::test_an_answer_is_compact_text_alone",
            "surfaces/mcp/test_answers.py::test_programs_get_structure_that_fits_the_schema",
        ),
    ),
    Requirement(
        id="MCP-06",
        source="002 §23.9",
        promise="failures are isError with name and hint; unknown tools are protocol errors",
        tests=(
            "surfaces/mcp/test_answers.py::test_a_failure_is_text_with_its_name_and_what_to_do",
            "surfaces/mcp/test_answers.py::test_an_unknown_tool_is_a_protocol_error_with_the_nearest_name",
        ),
    ),
    Requirement(
        id="MCP-07",
        source="002 §23.5",
        promise="progress through the protocol",
        tests=("surfaces/mcp/test_calls.py::test_progress_is_reported_before_the_answer",),
    ),
    Requirement(
        id="MCP-08",
        source="002 §23.11",
        promise="deprecations are warnings in meta",
        tests=("surfaces/mcp/test_answers.py::test_a_deprecated_tool_warns_in_meta_and_in_the_text",),
    ),
    Requirement(
        id="MCP-09",
        source="issue MCP",
        promise="the ledger and the docs are resources",
        tests=(
            "surfaces/mcp/test_resources.py::test_the_log_and_the_tasks_are_listed_and_read",
            "surfaces/mcp/test_resources.py::test_every_page_of_the_documentation_is_listed_and_read",
        ),
    ),
    Requirement(
        id="MCP-10",
        source="002 §23.3",
        promise="one session a connection, over every transport",
        tests=(
            "surfaces/mcp/test_sessions.py::test_each_connection_has_a_session_of_its_own",
            "surfaces/mcp/test_sessions.py::test_the_end_of_stdio_ends_the_session",
        ),
    ),
    Requirement(
        id="MCP-11",
        source="issue faults",
        promise="malformed messages are answered and harm nobody",
        tests=(
            "surfaces/mcp/test_http.py::test_what_is_no_message_is_a_json_rpc_error",
            "surfaces/mcp/test_stream.py::test_malformed_lines_are_answered_and_the_stream_goes_on",
            "surfaces/mcp/test_lines.py::test_a_line_over_the_limit_is_dropped_alone",
        ),
    ),
    Requirement(
        id="REPO-01",
        source="002 §5, §6",
        promise="git's files and untracked ones belong; nothing tracked is lost by a folder's name",
        tests=(
            "repo/truth/test_listing.py::test_nothing_tracked_is_lost_by_its_folders_name",
            "repo/truth/test_listing.py::test_untracked_noise_is_left_out_and_said",
            "adapters/test_pygit2_repo.py",
        ),
    ),
    Requirement(
        id="REPO-02",
        source="002 §5.4-5.6",
        promise="stat, then hash; moves are told; any updates equal a rebuild",
        tests=(
            "repo/index/test_indexer.py::test_any_sequence_of_updates_equals_a_rebuild",
            "repo/index/test_indexer.py::test_a_move_is_told_as_one",
        ),
    ),
    Requirement(
        id="REPO-03",
        source="002 §5.8",
        promise="a damaged or old index is remade by itself",
        tests=("repo/index/test_indexer.py::test_a_damaged_index_is_remade_with_the_reason",),
    ),
    Requirement(
        id="REPO-04",
        source="design §6",
        promise="literal and regex hits are ripgrep's, in a stable order",
        tests=("repo/search/test_scan.py::test_hits_are_ripgreps",),
    ),
    Requirement(
        id="REPO-07",
        source="design §7, 000 §21A",
        promise="epochs are events, status tells of them, a rebuild is an operation within budget",
        tests=(
            "repo/index/test_service.py::test_status_and_events_tell_of_epochs",
            "repo/index/test_service.py::test_rebuilding_counts_against_the_tasks_budget",
        ),
    ),
    Requirement(
        id="REPO-08",
        source="design §7",
        promise="secrets are neither indexed nor read unless un-ignored",
        tests=(
            "repo/reading/test_read.py::test_secrets_are_not_read_unless_the_owner_unignores_them",
            "repo/truth/test_listing.py::test_secrets_are_left_out_even_when_tracked_unless_unignored",
        ),
    ),
    Requirement(
        id="REPO-05",
        source="design §6",
        promise="no answer is wrong in silence when files change outside",
        tests=("repo/search/test_search.py::test_outside_edits_are_never_missed_in_silence",),
    ),
    Requirement(
        id="REPO-06",
        source="002 §23.7",
        promise="read_files reads ranges of several files, bounded, inside the repository only",
        tests=(
            "repo/reading/test_read.py::test_too_much_is_cut_and_says_what_to_read_next",
            "repo/reading/test_read.py::test_what_may_not_or_cannot_be_read_is_refused",
        ),
    ),
    Requirement(
        id="IDX-10",
        source="002 §7.3",
        promise="facts follow the text: step by step and at once give the same, and a bad file costs only itself",
        tests=(
            "repo/index/test_follower.py::test_step_by_step_and_at_once_give_the_same",
            "repo/index/test_follower.py::test_a_pass_that_is_overtaken_goes_on_where_it_was",
            "repo/index/test_follower.py::test_a_parser_that_dies_costs_nothing_but_its_file",
            "repo/index/test_follower.py::test_a_broken_file_is_named_and_the_rest_is_there",
        ),
    ),
    Requirement(
        id="IDX-11",
        source="002 §7.3.11",
        promise="definitions of earlier epochs are known",
        tests=("repo/index/test_follower.py::test_what_was_defined_at_an_earlier_epoch_is_known",),
    ),
    Requirement(
        id="RES-01",
        source="002 §7.3.2",
        promise="references are tiered: PROVEN by scope, STRONG by an explicit chain, the rest is not claimed",
        tests=(
            "repo/resolve/test_references.py::test_a_function_is_followed_through_every_way_to_import_it",
            "repo/resolve/test_references.py::test_members_are_strong_where_the_class_is_written_and_anchored_where_not",
            "repo/resolve/test_references.py::test_an_unknown_base_makes_an_inherited_member_a_guess",
        ),
    ),
    Requirement(
        id="SRC-10",
        source="002 §23.7",
        promise="search finds definitions, references by tier and symbols by parts of their names, in scopes and pages",
        tests=(
            "repo/search/test_symbols.py::test_definitions_by_name_dotted_name_place_and_id",
            "repo/search/test_symbols.py::test_references_come_with_their_tiers",
            "repo/search/test_symbols.py::test_names_in_part",
            "repo/search/test_symbols.py::test_scopes",
            "repo/search/test_symbols.py::test_pages_and_edits_in_between",
        ),
    ),
    Requirement(
        id="CTX-01",
        source="002 §8.4.1",
        promise="the families are a closed list, in one table",
        tests=(
            "repo/contexts/test_family.py::test_the_names_are_the_closed_list",
            "repo/contexts/test_family.py::test_every_family_says_which_files_are_its_own",
            "repo/contexts/test_family.py::test_every_family_has_markers_or_is_everywhere",
            "repo/contexts/test_family.py::test_a_file_of_each_include_glob_is_in_the_family",
        ),
    ),
    Requirement(
        id="CTX-02",
        source="002 §8.4.2",
        promise="each marker makes a root, and one that cannot be read detaches nothing",
        tests=(
            "repo/contexts/test_discovery.py::test_each_marker_makes_its_folder_a_root_of_its_family",
            "repo/contexts/test_discovery.py::test_package_json_with_workspaces_and_cargo_with_a_workspace_are_fences",
            "repo/contexts/test_discovery.py::test_families_without_markers_have_one_root",
            "repo/contexts/test_discovery.py::test_protobuf_has_no_root_of_its_own_when_buf_yaml_says_where_it_is",
        ),
    ),
    Requirement(
        id="CTX-03",
        source="002 §8.4.3",
        promise="the closest fence decides; what it does not list is detached",
        tests=(
            "repo/contexts/test_gradle.py::test_plain_strings_are_strict",
            "repo/contexts/test_gradle.py::test_anything_computed_keeps_every_root",
            "repo/contexts/test_gradle.py::test_maven_folders_fence_nothing",
        ),
    ),
    Requirement(
        id="CTX-04",
        source="002 §8.4.4",
        promise="inner roots are punched out of outer ones, and odd names are no globs",
        tests=(
            "repo/contexts/test_membership.py::test_a_root_punches_itself_out_of_every_root_around_it",
            "repo/contexts/test_membership.py::test_another_familys_roots_punch_nothing",
            "repo/contexts/test_membership.py::test_detached_roots_punch_too",
            "repo/contexts/test_membership.py::test_odd_names_mean_only_themselves",
        ),
    ),
    Requirement(
        id="CTX-05",
        source="002 §8.4.5",
        promise="the probe is deterministic and looks at five samples at most",
        tests=(
            "repo/contexts/test_probe.py::test_one_good_file_makes_a_context_valid_and_ends_the_probe",
            "repo/contexts/test_probe.py::test_no_good_file_among_five_fails_it_and_says_which",
            "repo/contexts/test_probe.py::test_no_file_of_the_family_makes_it_empty",
            "repo/contexts/test_probe.py::test_files_of_inner_roots_and_excluded_folders_are_not_its_own",
        ),
    ),
    Requirement(
        id="CTX-06",
        source="002 §8.4.6",
        promise="a file has one owner in a family, whatever order files come in",
        tests=(
            "repo/contexts/test_router.py::test_the_deepest_valid_context_owns_a_file",
            "repo/contexts/test_router.py::test_nobody_owns_what_is_detached_failed_excluded_or_of_another_family",
            "repo/contexts/test_router.py::test_two_families_each_have_their_owner",
            "repo/contexts/test_router.py::test_every_file_has_a_home_and_those_nobody_owns_the_fallback",
        ),
    ),
    Requirement(
        id="CTX-07",
        source="002 §8.9",
        promise="what people write into contexts.yaml is heeded and kept; a broken file is named by line and untouched",
        tests=(
            "repo/contexts/test_file.py::test_what_was_discovered_is_there_to_read",
            "repo/contexts/test_file.py::test_a_second_discovery_of_the_same_writes_nothing",
            "repo/contexts/test_file.py::test_what_a_person_wrote_survives",
            "repo/contexts/test_file.py::test_an_entry_names_a_root_that_was_found",
        ),
    ),
    Requirement(
        id="CTX-08",
        source="002 §8.4.1",
        promise="when nothing says that contexts changed, discovering again gives the same",
        tests=(
            "repo/contexts/test_contexts.py::test_ids_say_family_and_root_and_stay_when_others_come",
            "repo/contexts/test_contexts.py::test_a_family_has_one_context_several_or_none",
            "repo/contexts/test_contexts.py::test_changes_that_can_move_a_context_are_noticed",
            "repo/contexts/test_contexts.py::test_changes_that_cannot_are_not",
        ),
    ),
    Requirement(
        id="VEC-01",
        source="000 §5",
        promise="the same text gives the same vector, offline",
        tests=(
            "repo/vectors/test_wordllama.py::test_says_who_it_is",
            "repo/vectors/test_wordllama.py::test_rows_have_length_one_or_zero",
            "repo/vectors/test_wordllama.py::test_no_texts_are_no_rows",
            "repo/vectors/test_wordllama.py::test_code_is_found_by_what_it_is_about",
        ),
    ),
    Requirement(
        id="VEC-02",
        source="000 §8",
        promise="search among vectors is exact, and a damaged store is begun anew with the reason",
        tests=(
            "repo/vectors/test_store.py::test_search_is_exact_among_the_digests",
            "repo/vectors/test_store.py::test_scores_are_cosines",
            "repo/vectors/test_store.py::test_unknown_and_repeated_digests",
            "repo/vectors/test_store.py::test_the_same_digests_again_see_what_was_added",
        ),
    ),
    Requirement(
        id="VEC-03",
        source="000 §5",
        promise="chunks cover a file without overlap and are cut at definitions",
        tests=(
            "repo/vectors/test_chunks.py::test_a_text_is_covered_exactly",
            "repo/vectors/test_chunks.py::test_chunks_are_neither_empty_nor_too_long",
            "repo/vectors/test_chunks.py::test_a_small_chunk_fits_no_neighbour",
            "repo/vectors/test_chunks.py::test_lines_are_counted_and_kept_whole",
        ),
    ),
    Requirement(
        id="VEC-04",
        source="000 §23",
        promise="an endpoint is believed only what was checked, and gets no key over plain http",
        tests=(
            "repo/vectors/test_endpoint.py::test_rows_come_in_the_order_of_the_texts",
            "repo/vectors/test_endpoint.py::test_many_texts_are_asked_in_batches_and_long_ones_shortened",
            "repo/vectors/test_endpoint.py::test_nothing_to_ask_asks_nothing",
            "repo/vectors/test_endpoint.py::test_a_busy_endpoint_is_asked_again",
        ),
    ),
    Requirement(
        id="VEC-05",
        source="000 §14",
        promise="other models can be installed: model2vec and ONNX",
        tests=(
            "repo/vectors/test_model2vec.py::test_words_add_up",
            "repo/vectors/test_model2vec.py::test_unknown_words_do_not_count",
            "repo/vectors/test_model2vec.py::test_half_precision",
            "repo/vectors/test_model2vec.py::test_shared_rows_and_weights",
            "repo/vectors/test_onnx.py::test_the_mean_of_the_tokens",
            "repo/vectors/test_onnx.py::test_another_kind_of_model_is_refused",
            "repo/vectors/test_onnx.py::test_a_broken_model_is_refused",
            "repo/vectors/test_onnx.py::test_a_missing_model_is_said",
        ),
    ),
    Requirement(
        id="TXT-01",
        source="002 §7.2",
        promise="the epoch commits with the full text, and a crash leaves the last commit",
        tests=("repo/index/test_fulltext.py::test_a_process_that_dies_while_writing_leaves_the_last_commit",),
    ),
    Requirement(
        id="TXT-02",
        source="002 §7.2",
        promise="a broken full text is remade and says why",
        tests=(
            "repo/index/test_fulltext.py::test_a_broken_folder_is_made_anew_and_says_why",
            "repo/index/test_fulltext.py::test_a_segment_cut_short_is_made_anew",
        ),
    ),
    Requirement(
        id="TXT-03",
        source="design §6",
        promise="removed files stop counting after compaction, or it says so",
        tests=(
            "repo/index/test_fulltext.py::test_removed_files_no_longer_count_after_compaction",
            "repo/index/test_fulltext.py::test_compaction_says_when_the_index_is_too_large_for_it",
        ),
    ),
    Requirement(
        id="RNK-01",
        source="000 §15",
        promise="a question finds its file: definitions and mentioned files first, with reasons and a telling line",
        tests=(
            "repo/search/test_ranking.py::test_the_definition_comes_before_its_uses_and_says_so",
            "repo/search/test_ranking.py::test_a_mentioned_file_comes_first",
            "repo/search/test_ranking.py::test_the_title_counts_more_than_the_rest",
            "repo/search/test_ranking.py::test_other_forms_of_a_word_are_found",
            "repo/search/test_ranked.py::test_a_question_finds_its_file_with_a_telling_line",
            "repo/search/test_ranked.py::test_auto_ranks_what_stands_nowhere",
            "repo/search/test_ranked.py::test_edits_and_removals_are_ranked_anew",
            "repo/search/test_ranked.py::test_without_a_model_words_decide_and_that_is_said",
        ),
    ),
    Requirement(
        id="MAP-01",
        source="002 §23.7",
        promise="map_repo shows a newcomer the repository within a budget, ranked by use and focus, by the index alone",
        tests=(
            "repo/overview/test_map_repo.py::test_the_plain_answer_is_what_a_newcomer_needs",
            "repo/overview/test_map_repo.py::test_a_focus_brings_up_what_it_speaks_of_and_one_that_says_nothing_is_told",
            "repo/overview/test_map_repo.py::test_parts_on_request",
            "repo/overview/test_map_repo.py::test_the_budget_holds_and_what_is_cut_is_said",
            "repo/overview/test_map_repo.py::test_the_map_follows_the_files",
            "repo/overview/test_graph.py::test_bounds_are_said_and_tests_go_first",
            "repo/reading/test_folders.py::test_counts_add_up_and_everything_is_listed_once",
        ),
    ),
    Requirement(
        id="EXP-01",
        source="design §4",
        promise="explain_symbol says what a symbol is and who uses it, and never guesses between several",
        tests=(
            "repo/explain/test_explain.py::test_a_class_with_all_that_is_worth_knowing",
            "repo/explain/test_explain.py::test_every_way_to_name_a_symbol",
            "repo/explain/test_explain.py::test_a_name_that_several_have_is_never_guessed",
            "repo/explain/test_explain.py::test_what_is_not_there_is_said_with_what_is_near",
            "repo/explain/test_explain.py::test_a_large_class_stays_within_the_budget",
            "repo/explain/test_signature.py::test_signatures_and_docs",
            "repo/explain/test_signature.py::test_a_long_signature_is_cut",
        ),
    ),
    Requirement(
        id="DIR-01",
        source="design §6",
        promise="list_dir lists what is indexed, in pages of one state, never git's or CodePlane's own",
        tests=(
            "repo/reading/test_list_dir.py::test_a_folder_with_counts_and_sizes",
            "repo/reading/test_list_dir.py::test_paths_as_people_write_them",
            "repo/reading/test_list_dir.py::test_what_is_not_a_folder_here_is_refused",
            "repo/reading/test_list_dir.py::test_pages_cover_everything_once_and_belong_to_their_question",
        ),
    ),
    Requirement(
        id="FCT-01",
        source="002 §7.8",
        promise="every fact query is reachable, bounded, and says what it left out",
        tests=(
            "repo/fact_queries/test_operations.py::test_definitions_by_name_and_id",
            "repo/fact_queries/test_operations.py::test_references_by_tier",
            "repo/fact_queries/test_operations.py::test_scopes_and_what_is_bound_in_them",
            "repo/fact_queries/test_operations.py::test_imports_and_exports",
            "repo/fact_queries/test_operations.py::test_dynamic_access_and_files_without_facts",
            "repo/fact_queries/test_queries.py::test_proven_references_and_limits",
            "repo/fact_queries/test_queries.py::test_out_of_time",
        ),
    ),
    Requirement(
        id="FCT-02",
        source="002 §7.3.9",
        promise="anchor groups have true counts and at most ten exemplars, in order",
        tests=("repo/fact_queries/test_operations.py::test_anchor_groups_have_true_counts_and_few_exemplars",),
    ),
    Requirement(
        id="RDF-10",
        source="002 §23.7",
        promise="read_files reads a definition by name or id",
        tests=(
            "repo/reading/test_named_lines.py::test_a_definition_is_read_by_name_and_by_id",
            "repo/reading/test_named_lines.py::test_a_name_that_several_have_lists_them",
            "repo/reading/test_named_lines.py::test_names_that_lead_nowhere_and_files_called_like_an_id",
        ),
    ),
    Requirement(
        id="IDX-12",
        source="002 §4.2",
        promise="an index is carried to a clone: taken over where contents agree, refused where it does not belong",
        tests=(
            "repo/index/test_portable.py::test_a_fresh_clone_takes_over_and_adds_what_differs",
            "repo/index/test_portable.py::test_an_archive_that_does_not_belong_is_refused",
            "repo/index/test_portable.py::test_what_is_newer_foreign_or_damaged_is_refused",
            "repo/index/test_portable.py::test_facts_that_are_no_facts_are_not_taken",
        ),
    ),
    Requirement(
        id="CLI-10",
        source="000 §11",
        promise="cpl search is for people and for pipes, and cpl index carries an index",
        tests=(
            "surfaces/cli/test_search.py::test_lines_for_pipes_and_json",
            "surfaces/cli/test_search.py::test_nothing_found_and_nonsense_have_their_exit_codes",
            "surfaces/cli/test_search.py::test_colours_on_a_terminal_unless_unwanted",
            "surfaces/cli/test_search.py::test_an_index_is_carried_to_a_clone",
        ),
    ),
    Requirement(
        id="CTX-09",
        source="002 §8.4",
        promise="contexts are shown through the door and follow what people write",
        tests=(
            "repo/contexts/test_service.py::test_projects_are_found_probed_and_shown",
            "repo/contexts/test_service.py::test_what_is_written_and_what_changes_is_heeded",
        ),
    ),
    Requirement(
        id="FCT-10",
        source="002 §7.3.1",
        promise="what ctags lists is found at its line, and every difference has a reason",
        tests=(
            "repo/facts/test_ctags.py::test_every_reason_is_needed",
            "repo/facts/test_ctags.py::test_samples",
            "repo/facts/test_ctags.py::test_installed_python",
            "repo/facts/test_ctags.py::test_installed_javascript",
        ),
    ),
    Requirement(
        id="FCT-11",
        source="002 §7.3.5",
        promise="every form of import and export is read right",
        tests=(
            "repo/facts/test_javascript.py::test_imports",
            "repo/facts/test_javascript.py::test_typed_imports",
            "repo/facts/test_javascript.py::test_import_places",
            "repo/facts/test_javascript.py::test_exports",
            "repo/facts/test_others.py::test_imports",
            "repo/facts/test_others.py::test_bindings",
            "repo/facts/test_others.py::test_an_assignment_goes_to_the_variable_it_sees",
            "repo/facts/test_others.py::test_names_before_the_name_do_not_hide_it",
        ),
    ),
    Requirement(
        id="FCT-12",
        source="002 §7.3.3",
        promise="names are bound in their scope",
        tests=(
            "repo/facts/test_python.py::test_definitions",
            "repo/facts/test_python.py::test_bindings",
            "repo/facts/test_python.py::test_imports",
            "repo/facts/test_python.py::test_exports",
            "repo/facts/test_python.py::test_text_and_labels",
            "repo/facts/test_python.py::test_what_is_read_outside_the_function",
        ),
    ),
    Requirement(
        id="FCT-13",
        source="002 §7.5",
        promise="any bytes give bounded facts inside the file",
        tests=(
            "repo/facts/test_robust.py::test_hard_bytes",
            "repo/facts/test_robust.py::test_a_sample_cut_and_mixed_with_noise",
            "repo/facts/test_robust.py::test_a_line_of_a_megabyte",
            "repo/facts/test_robust.py::test_random_edits",
            "repo/facts/test_robust.py::test_more_definitions_than_are_kept_is_said",
            "repo/facts/test_robust.py::test_a_file_too_large_is_refused",
        ),
    ),
    Requirement(
        id="FCT-14",
        source="002 §7.5",
        promise="each language has a sound table and a sample",
        tests=(
            "repo/facts/test_languages.py::test_every_language_has_a_sample",
            "repo/facts/test_languages.py::test_the_sample_is_read_whole",
            "repo/facts/test_languages.py::test_the_table_is_sound",
            "repo/facts/test_languages.py::test_a_file_is_known_by_its_name_or_first_line",
        ),
    ),
    Requirement(
        id="RPL-01",
        source="000 §12",
        promise="a recorded session's reads can be asked again, and what they answer differently is told",
        tests=(
            "work/test_replay.py::test_reads_are_asked_again_and_differences_told",
            "work/test_replay.py::test_what_cannot_be_asked_again_is_said",
        ),
    ),
    Requirement(
        id="RES-02",
        source="design §6",
        promise="JavaScript and TypeScript are followed through modules, exports and classes, by tier",
        tests=(
            "repo/resolve/test_javascript.py::test_barrels_pass_names_on",
            "repo/resolve/test_javascript.py::test_a_default_is_known_by_any_name",
            "repo/resolve/test_javascript.py::test_types_are_imported_annotated_and_extended",
            "repo/resolve/test_javascript.py::test_members_are_strong_where_the_class_is_written",
            "repo/resolve/test_javascript.py::test_an_override_and_an_implementation_have_their_own_references",
            "repo/resolve/test_javascript.py::test_a_comment_is_no_part_of_a_chain",
        ),
    ),
    Requirement(
        id="RES-03",
        source="design §6",
        promise="no claim across files is made for a language whose modules cannot be found",
        tests=(
            "repo/resolve/test_javascript.py::test_modules_are_found_by_what_renames_them",
            "repo/resolve/test_javascript.py::test_without_a_way_to_find_modules_nothing_is_claimed_across_files",
        ),
    ),
    Requirement(
        id="RES-04",
        source="design §6",
        promise="every whole-word occurrence is looked at, and no other",
        tests=("repo/resolve/test_occurrences.py::test_a_name_is_found_wherever_no_letter_touches_it",),
    ),
    Requirement(
        id="WSP-01",
        source="000 §3",
        promise="further folders are attached, asked about by name and detached; what is not allowed is refused",
        tests=(
            "repo/workspaces/test_attach.py::test_an_attached_folder_answers_every_operation_by_its_name",
            "repo/workspaces/test_attach.py::test_secrets_and_what_is_outside_stay_out_of_reach",
            "repo/workspaces/test_attach.py::test_a_cursor_of_one_workspace_is_none_in_another",
            "repo/workspaces/test_attach.py::test_a_restart_keeps_what_is_attached_and_a_detached_one_is_gone",
            "repo/workspaces/test_attach.py::test_what_happened_is_in_the_log_with_the_workspace",
            "repo/workspaces/test_attach.py::test_a_folder_outside_the_roots_needs_the_owners_leave",
            "repo/workspaces/test_attach.py::test_folders_that_nobody_can_attach",
            "repo/workspaces/test_attach.py::test_a_folder_that_went_away_or_leads_elsewhere_is_not_read",
        ),
    ),
    Requirement(
        id="WSP-02",
        source="000 §22",
        promise="a remote is cloned without prompts, within a cap, and leaves nothing behind when it fails",
        tests=(
            "repo/workspaces/test_clone.py::test_a_clone_is_a_workspace_until_it_is_detached",
            "repo/workspaces/test_clone.py::test_it_is_outward_so_the_owner_has_to_allow_it",
            "repo/workspaces/test_clone.py::test_leave_to_clone_is_no_leave_to_read_this_machine",
            "repo/workspaces/test_clone.py::test_addresses_that_are_refused_leave_nothing",
            "repo/workspaces/test_clone.py::test_names_and_branches_that_are_refused",
            "repo/workspaces/test_clone.py::test_a_clone_over_its_size_is_removed",
            "repo/workspaces/test_clone.py::test_its_size_is_watched_while_it_runs",
            "repo/workspaces/test_clone.py::test_a_clone_that_takes_too_long_is_ended",
        ),
    ),
    Requirement(
        id="WSP-03",
        source="design §7",
        promise="a workspace in use is not taken away under its caller",
        tests=("repo/workspaces/test_leases.py::test_closing_waits_for_calls_under_way_and_refuses_new_ones",),
    ),
    Requirement(
        id="WSP-04",
        source="000 §22",
        promise="names of workspaces are safe as folders",
        tests=(
            "repo/workspaces/test_name.py::test_a_name_is_one_plain_folder",
            "repo/workspaces/test_name.py::test_what_is_suggested_is_a_name",
            "repo/workspaces/test_name.py::test_names_are_made_from_folders",
            "repo/workspaces/test_name.py::test_nothing_is_made_of_nothing",
        ),
    ),
    Requirement(
        id="WSP-05",
        source="000 §22",
        promise="addresses are checked before git sees them, and secrets in them are not told",
        tests=(
            "repo/workspaces/test_remote.py::test_addresses_that_are_taken",
            "repo/workspaces/test_remote.py::test_addresses_that_are_refused",
            "repo/workspaces/test_remote.py::test_nothing_of_a_password_is_ever_shown",
            "repo/workspaces/test_remote.py::test_any_text_is_an_address_or_refused",
        ),
    ),
    Requirement(
        id="WSP-06",
        source="design §4",
        promise="a call that names a workspace gets its handler and judgement through the same door",
        tests=(
            "kernel/test_place.py::test_handler_and_judgement_are_those_of_the_workspace_named",
            "kernel/test_place.py::test_a_key_used_here_is_another_call_there",
            "kernel/test_place.py::test_without_other_workspaces_every_name_is_unknown",
        ),
    ),
    Requirement(
        id="SRC-11",
        source="002 §7.2",
        promise="an expression is matched the same whether or not a text that every match holds is looked for first",
        tests=(
            "repo/search/test_pattern.py::test_what_every_match_holds",
            "repo/search/test_pattern.py::test_the_same_matches_as_one_sweep",
        ),
    ),
    Requirement(
        id="SRC-12",
        source="002 §7.2",
        promise="names are found by likeness, the most alike first, within bounded work",
        tests=(
            "repo/search/test_names.py::test_the_most_alike_come_first",
            "repo/search/test_names.py::test_a_long_name_of_one_letter_does_not_explode",
        ),
    ),
    Requirement(
        id="SRC-13",
        source="002 §23.7",
        promise="scopes take languages by their own, family and short names; what is no language is refused",
        tests=(
            "repo/search/test_scope.py::test_what_is_a_test_by_its_path",
            "repo/search/test_scope.py::test_languages_go_by_their_own_name_their_familys_and_short_forms",
            "repo/search/test_scope.py::test_a_language_that_is_none_is_refused_with_what_may_be_meant",
        ),
    ),
    Requirement(
        id="SRC-14",
        source="002 §7.2",
        promise="a quicker sweep over the text finds what a plain one finds",
        tests=(
            "repo/search/test_sweep.py::test_as_python_finds_it",
            "repo/search/test_sweep.py::test_a_mapped_file_is_the_same",
        ),
    ),
    Requirement(
        id="PRJ-01",
        source="issue project",
        promise="the wheel installs into a clean environment and serves",
        tests=(
            "test_packaging.py::test_it_serves_a_fresh_repository",
            "test_packaging.py::test_it_holds_the_docs_and_nothing_of_the_tests",
        ),
    ),
    Requirement(
        id="PRJ-02",
        source="house rules",
        promise="locks are pinned and hashed, and name no index",
        tests=(
            "test_packaging.py::test_it_names_no_index",
            "test_packaging.py::test_every_requirement_is_pinned_and_hashed",
        ),
    ),
    Requirement(
        id="PRJ-03",
        source="issue project",
        promise="the reference is generated and cannot drift",
        tests=(
            "interaction/test_reference.py::test_reference_page_is_up_to_date",
            "interaction/test_requirements.py::test_every_requirement_names_tests_that_exist",
        ),
    ),
)
