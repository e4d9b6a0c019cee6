//! Starts `cpl lsp` for a work tree; everything else is the language server's.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct CodePlane;

impl zed::Extension for CodePlane {
    fn new() -> Self {
        CodePlane
    }

    fn language_server_command(&mut self, _id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("cpl")
            .ok_or_else(|| "cpl is not on PATH: install CodePlane first".to_string())?;
        let args = vec!["lsp".into(), "--repo".into(), worktree.root_path()];
        Ok(Command { command, args, env: worktree.shell_env() })
    }
}

zed::register_extension!(CodePlane);
