/**
 * The Workers runtime itself: `workerd` from the npm registry, in the user's cache folder. It is not a dependency of
 * the project, since it is 160 MB for one soak.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePorts, isListening } from '../../src/temporal-service/free-port.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';

const VERSION = '1.20261117.1';
/** A date at which Workers had nothing of Node by default; with later ones they have `process`. */
const COMPATIBLE_WITH = '2024-01-01';

async function findWorkerd(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'everthread');
  const folder = join(cache, `workerd-${VERSION}`);
  const program = join(folder, 'node_modules', 'workerd', 'bin', 'workerd');
  if (existsSync(program)) return program;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, 'package.json'), '{"private":true}');
  const npm = ['install', `workerd@${VERSION}`, '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', npm, { cwd: making });
  renameSync(making, folder);
  return program;
}

/** Serves a module Worker until the test is over; returns its address. `texts` are its bindings. */
export async function serveInWorkerd(
  folder: string,
  code: string,
  texts: Readonly<Record<string, string>>,
): Promise<string> {
  const [port = 0] = await findFreePorts(1);
  const bindings = Object.entries(texts).map(
    ([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`,
  );
  writeFileSync(join(folder, 'worker.js'), code);
  writeFileSync(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .own), (name = "internet", network = (allow = ["private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const own :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBLE_WITH}",
  bindings = [${bindings.join(', ')}]
);
`,
  );
  const child: ChildProcess = spawn(
    process.execPath,
    [await findWorkerd(), 'serve', join(folder, 'config.capnp')],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  closeAfterTest(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  await eventually('workerd listens', async () => {
    if (child.exitCode !== null) throw new Error(`workerd has ended with ${child.exitCode}.`);
    return isListening('127.0.0.1', port);
  });
  return `http://127.0.0.1:${port}`;
}
