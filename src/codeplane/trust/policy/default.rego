# The rules CodePlane ships with. Every call passes here; rules of your own in .codeplane/policy come on top
# (docs/guides/policy.md says how they are combined). A call that no rule allows is refused.
package codeplane.shipped

import rego.v1

# Everything that is said of a call; whoever asks weighs it.
rules := {"deny": deny, "ask": ask, "allow": allow}

guarded := {
	"DESTRUCTIVE": "it can destroy work or history",
	"EXFILTRATION": "it sends things out of this machine",
	"HIGH": "it runs a shell command",
}

# What an operation says of one call is nearer to it than what is said of its kind.
said := text if {
	text := concat(" and ", input.effects)
	text != ""
}

else := guarded[input.risk]

# People are not asked about what they call themselves.
person if input.actor.kind in ["owner", "device"]

changes if input.risk != "READ"

outward if input.risk == "EXFILTRATION"

outward if {
	changes
	count(input.remotes) > 0
}

# The owner's setting, or that of the caller's token where it is stricter: a token is never laxer.
mode := "always" if input.context.grant.approval_mode == "always"

else := "trust" if {
	input.context.mode == "automatic"
	input.context.grant.approval_mode == "trust"
}

else := input.context.mode

named if {
	input.operation.name in input.context.allow
	not input.context.grant.approval_mode == "always"
}

known if {
	input.actor.kind in ["owner", "device", "agent", "assistant", "job", "system"]
	input.risk in ["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]
	input.context.mode in ["automatic", "trust", "always"]
}

deny contains "nobody knows this kind of caller, risk or trust.mode" if not known

# No mode and no list skips the question for a shell command; only the owner at the keyboard is not asked.
ask contains said if {
	input.risk == "HIGH"
	input.actor.kind != "owner"
}

ask contains said if {
	input.risk in ["DESTRUCTIVE", "EXFILTRATION"]
	not person
	mode != "automatic"
	not named
}

ask contains "every change is asked about" if {
	mode == "always"
	changes
	not person
	not named
	input.actor.kind != "system"
}

ask contains "untrusted content was read in this task, and this reaches other machines" if {
	not input.context.untrusted == false
	outward
	not person
}

ask contains "a job only proposes what reaches other machines" if {
	input.actor.kind == "job"
	outward
}

allow contains why

why := "it only reads" if input.risk == "READ"

else := "a person calls it themselves" if person

else := sprintf("%s is named in trust.allow", [input.operation.name]) if {
	named
	input.risk in ["DESTRUCTIVE", "EXFILTRATION"]
}

else := "it changes nothing but the workspace" if input.risk == "WRITE"

else := "trust.mode is automatic" if {
	mode == "automatic"
	input.risk in ["DESTRUCTIVE", "EXFILTRATION"]
}
