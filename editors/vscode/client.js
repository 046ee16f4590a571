// Starts `dpm lsp` and connects the editor to it.
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { command } = require("./command");

let client;

exports.activate = async () => {
  const found = command({
    setting: workspace.getConfiguration("dpm").get("command", ""),
    // A folder that is not trusted brings no command.
    folders: workspace.isTrusted ? (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [],
    env: process.env,
  });
  if (!found) {
    window.showWarningMessage("The dpm command was not found, so there are colours alone. Install it (in a checkout of dpm: cargo install --path .), or name it in the setting dpm.command.");
    return;
  }
  client = new LanguageClient("dpm", "dpm", { command: found, args: ["lsp"] }, { documentSelector: [{ language: "dpm" }] });
  await client.start();
};

exports.deactivate = () => client?.stop();
