/** Asks a `temporal` program for its versions, and decides whether its server is new enough for us. */

import { lastLines, runCommand } from './run-command.ts';
import { MINIMUM_SERVER_VERSION } from './server-settings.ts';

export interface TemporalVersion {
  cli: string;
  server: string;
}

export type VersionCheck = { ok: true; version: TemporalVersion } | { ok: false; reason: string };

/** Runs `<path> --version`, whose answer is `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)`. */
export async function checkTemporalVersion(path: string, env?: NodeJS.ProcessEnv): Promise<VersionCheck> {
  const { code, output } = await runCommand(path, ['--version'], { env, timeoutMs: 60_000 });
  const match = /version (\S+) \(Server ([\d.]+)/.exec(output);
  const [, cli, server] = match ?? [];
  if (cli === undefined || server === undefined) {
    return {
      ok: false,
      reason: `"${path} --version" did not name a server version (exit code ${code}): ${lastLines(output, 2)}`,
    };
  }
  if (!isAtLeast(server, MINIMUM_SERVER_VERSION)) {
    return {
      ok: false,
      reason: `${path} has server ${server}; ${MINIMUM_SERVER_VERSION} or newer is needed`,
    };
  }
  return { ok: true, version: { cli, server } };
}

/** Compares dotted versions by their numbers: `1.9.0` is older than `1.29.0`. Suffixes such as `-rc.1` are ignored. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [have, want] = [version, minimum].map((text) => text.split('-', 1)[0]!.split('.').map(Number)) as [
    number[],
    number[],
  ];
  for (let part = 0; part < want.length; part++) {
    const difference = (have[part] ?? 0) - (want[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
