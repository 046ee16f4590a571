// Where the dpm command is: the setting, $DPM_COMMAND, a Python environment of the workspace, the path; the first that is there.
const fs = require("fs");
const path = require("path");

const windows = process.platform === "win32";

function runs(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

// A name that says nothing of a folder is looked for on the path.
function named(name, env) {
  if (name.includes("/") || (windows && name.includes("\\"))) return runs(name) ? name : undefined;
  const endings = windows && !path.extname(name) ? [".exe"] : [""];
  const folders = (env.PATH ?? env.Path ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending))).find(runs);
}

// What is asked for by name is taken or nothing is: another command in its place would surprise.
exports.command = ({ setting, folders, env }) => {
  const wanted = setting || env.DPM_COMMAND;
  if (wanted) return named(wanted, env);
  const environments = [...folders.flatMap((folder) => [path.join(folder, ".venv"), path.join(folder, "venv")]), ...(env.VIRTUAL_ENV ? [env.VIRTUAL_ENV] : [])];
  const inside = windows ? ["Scripts", "dpm.exe"] : ["bin", "dpm"];
  return environments.map((environment) => path.join(environment, ...inside)).find(runs) ?? named("dpm", env);
};
