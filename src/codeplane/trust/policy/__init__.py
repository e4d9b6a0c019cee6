"""The rules in Rego: what runs, what a person is asked about, what is refused."""
