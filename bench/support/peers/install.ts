/** Installs the peers from their own lockfile, once; their versions. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'peers');

/** Native parts must fit the Node that runs this, so its own headers are named where it has them. */
export function installPeers(): void {
  if (existsSync(join(FOLDER, 'node_modules', '.package-lock.json'))) return;
  const root = dirname(dirname(process.execPath));
  console.error('Installing the peers into bench/peers/node_modules: about two minutes.');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      ...(existsSync(join(root, 'include', 'node')) && { npm_config_nodedir: root }),
    },
  });
  if (status !== 0)
    throw new Error(
      'The peers could not be installed; `npm ci` in bench/peers says why. Nothing was measured.',
    );
}

export function readVersion(name: string): string {
  const path = join(FOLDER, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
