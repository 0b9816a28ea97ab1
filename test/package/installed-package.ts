/**
 * The package in a project outside the clone: in the long form as npm builds, packs and installs it; in the short one it is laid there,
 * with the files that `package.json` names. npm needs half a minute of computing to pack four thousand files and to unpack them three
 * times. The host's own Node (whatever npm runs on) is in front.
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
  /** Runs a command in the project; rejects when it fails. */
  run(command: string, ...args: string[]): Promise<{ stdout: string }>;
  remove(): void;
}

/** `prepare` puts into the project what is there before the package. */
export async function installPackage(prepare: (project: string) => void): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-package-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const project = join(folder, 'project');
  const env = await environment(project);
  const inProject: InstalledPackage['run'] = (command, ...args) =>
    run(command, args, { cwd: project, env, timeout: 600_000 });
  try {
    mkdirSync(project);
    const manifest = { name: 'project', version: '1.0.0', type: 'commonjs' };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    prepare(project);
    if (isLong) {
      const tarball = await pack(folder, env);
      // What npm has already is not asked for again.
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
  return { project, env, run: inProject, remove };
}

/** Built as for whoever publishes it; answers the name of the file in the folder. */
async function pack(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  await run(hostNode, [npmCli(), 'pack', '--loglevel=error', '--pack-destination', folder], {
    // The type check is a step of its own, for all that there is.
    env: { ...env, PATH: process.env.PATH, EVERTHREAD_BUILD_UNCHECKED: '1' },
  });
  return readdirSync(folder).find((file) => file.endsWith('.tgz')) as string;
}

async function environment(project: string): Promise<NodeJS.ProcessEnv> {
  const inFront = [join(project, 'node_modules', '.bin'), dirname(hostNode)];
  const behind = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  return {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(npm_|EVERTHREAD_|NODE_OPTIONS|OPENAI_)/.test(name)),
    ),
    PATH: [...inFront, ...behind].join(delimiter),
    EVERTHREAD_TASK_QUEUE: `package-${randomUUID()}`,
    // A `dev` of another test would be taken for the server that is there already.
    EVERTHREAD_DEV_PORT: String(await freeDevPort()),
  };
}

/** npm is run by the host's Node, as a user's shell would; the path npm itself tells when it started us. */
function npmCli(): string {
  return (
    process.env.npm_execpath ??
    join(dirname(hostNode), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  );
}
