# What all policies together say of a call, unweighed.
package codeplane.answer

import rego.v1

yours["deny"] := data.codeplane.policy.deny

yours["ask"] := data.codeplane.policy.ask

yours["allow"] := data.codeplane.policy.allow

answer["shipped"] := data.codeplane.shipped.rules

answer["yours"] := yours

answer["hidden"] := hidden if input.listed

# Of a list, what a call about it alone would be refused or asked about.
hidden contains id if {
	some id in input.listed
	count(data.codeplane.policy.deny) > 0 with input.resources as [id]
}

hidden contains id if {
	some id in input.listed
	count(data.codeplane.policy.ask) > 0 with input.resources as [id]
}
