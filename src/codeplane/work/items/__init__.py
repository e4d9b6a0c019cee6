"""Work items: durable units of work that an engine leases, runs step by step and resumes after a crash."""
