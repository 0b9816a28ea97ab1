/**
 * Installs the package into a project outside the clone. The long form builds, packs and installs it with npm; the
 * short form places the files that `package.json` names. npm needs half a minute of computing to pack four thousand
 * files and to unpack them three times. The first Node in PATH is the one that runs the tests.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freeDevPort } from '../cli/support.ts';
import { isLong } from '../support/long-form.ts';
import { buildPackage } from './built-package.ts';
import { layPackage } from './laid-packages.ts';

const run = promisify(execFile);
const hostNode = process.env.npm_node_execpath ?? 'node';

export interface InstalledPackage {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command in the project; rejects if it fails. */
  run(command: string, ...args: string[]): Promise<{ stdout: string }>;
  /** The same with another Node in PATH and more variables. */
  runWith(
    node: string,
    more: NodeJS.ProcessEnv,
    command: string,
    ...args: string[]
  ): Promise<{ stdout: string }>;
  remove(): void;
}

/** Creates a project and installs the package; `prepare` fills the project before that. */
export async function installPackage(prepare: (project: string) => void): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-package-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const project = join(folder, 'project');
  const env = await environment(project);
  const runWith: InstalledPackage['runWith'] = (node, more, command, ...args) => {
    const PATH = [dirname(node), env.PATH].join(delimiter);
    return run(command, args, { cwd: project, env: { ...env, PATH, ...more }, timeout: 600_000 });
  };
  const inProject: InstalledPackage['run'] = (command, ...args) =>
    run(command, args, { cwd: project, env, timeout: 600_000 });
  try {
    mkdirSync(project);
    const manifest = { name: 'project', version: '1.0.0', type: 'commonjs' };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    prepare(project);
    if (isLong) {
      const tarball = await pack(folder, env);
      // npm uses its cache where possible.
      const options = ['--no-audit', '--no-fund', '--prefer-offline'];
      await inProject('npm', 'install', ...options, join('..', tarball));
    } else {
      await buildPackage();
      layPackage(project);
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { project, env, run: inProject, runWith, remove };
}

/** Builds and packs the package as for publication; returns the name of the tarball in the folder. */
async function pack(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  await run(hostNode, [npmCli(), 'pack', '--loglevel=error', '--pack-destination', folder], {
    // The type check is skipped: a separate step checks all code.
    env: { ...env, PATH: process.env.PATH, EVERTHREAD_BUILD_UNCHECKED: '1' },
  });
  return readdirSync(folder).find((file) => file.endsWith('.tgz')) as string;
}

async function environment(project: string): Promise<NodeJS.ProcessEnv> {
  const inFront = [join(project, 'node_modules', '.bin'), dirname(process.execPath), dirname(hostNode)];
  const behind = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  return {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(npm_|EVERTHREAD_|NODE_OPTIONS|OPENAI_)/.test(name)),
    ),
    PATH: [...inFront, ...behind].join(delimiter),
    EVERTHREAD_TASK_QUEUE: `package-${randomUUID()}`,
    // Otherwise a `dev` of another test would be used as the existing server.
    EVERTHREAD_DEV_PORT: String(await freeDevPort()),
  };
}

/**
 * Path of npm's script, which the host's Node runs as a user's shell would; npm itself sets it in the environment if it
 * started us.
 */
function npmCli(): string {
  return (
    process.env.npm_execpath ??
    join(dirname(hostNode), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  );
}
