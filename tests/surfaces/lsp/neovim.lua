-- Starts `cpl lsp` as the guide says, asks for a definition and references, and writes what it was answered.
local root, cpl, out = vim.env.ROOT, vim.env.CPL, vim.env.OUT
vim.cmd("cd " .. vim.fn.fnameescape(root))
vim.cmd("edit main.py")
local id = vim.lsp.start_client({ name = "codeplane", cmd = { cpl, "lsp" }, root_dir = root })
vim.lsp.buf_attach_client(0, id)
vim.wait(60000, function() return vim.lsp.get_client_by_id(id).initialized end, 20)
local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 2, character = 8 } }
local function ask(method, more)
  local answers, why = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more or {}), 60000)
  if not answers then error(why) end
  local answer = answers[id]
  return answer and (answer.result or { error = answer.error })
end
local found = {
  definition = ask("textDocument/definition"),
  references = ask("textDocument/references", { context = { includeDeclaration = true } }),
  hover = ask("textDocument/hover"),
}
vim.api.nvim_buf_set_lines(0, 0, 0, false, { "# a new line" })
params.position.line = 3
found.moved = ask("textDocument/definition")
local file = io.open(out, "w")
file:write(vim.json and vim.json.encode(found) or vim.fn.json_encode(found))
file:close()
vim.lsp.stop_client(id)
vim.cmd("qa!")
