// Starts `dpm lsp` and connects the editor to it.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("dpm").get("path", "dpm");
  client = new LanguageClient("dpm", "dpm", { command, args: ["lsp"] }, { documentSelector: [{ language: "dpm" }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
