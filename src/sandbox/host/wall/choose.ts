/**
 * Chooses the wall for the children of this process: the best that passes a probe, which runs once per setting. A probe
 * is a real program behind a real wall that tries what an attacker would.
 */
import { RuntimeError } from '../../../core/value/error.ts';
import { probeWall } from './probe.ts';
import { isDemanding, PROTECTIONS, type Wall, type WallKind, type WallSetting } from './wall.ts';

const WALLS_BY_STRENGTH: readonly WallKind[] = ['bubblewrap', 'namespaces'];

const chosen = new Map<WallSetting, Promise<Wall>>();

/** Rejects with `InvalidConfiguration` if the setting requires a wall that this machine does not have. */
export function chooseWall(setting: WallSetting): Promise<Wall> {
  const known = chosen.get(setting);
  if (known) return known;
  const choice = choose(setting);
  chosen.set(setting, choice);
  return choice;
}

async function choose(setting: WallSetting): Promise<Wall> {
  const ladder = setting === 'bubblewrap' || setting === 'namespaces' ? [setting] : WALLS_BY_STRENGTH;
  const missing: { kind: WallKind; why: string }[] = [];
  for (const kind of setting === 'none' ? [] : ladder) {
    const probed = await probeWall(kind);
    if (probed.stands) return { kind, holds: PROTECTIONS, seccomp: probed.seccomp, missing };
    missing.push({ kind, why: probed.why });
  }
  if (!isDemanding(setting)) return { kind: 'none', holds: [], seccomp: false, missing };
  const whys = missing.map(({ kind, why }) => `${kind}: ${why}`).join('; ');
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_SANDBOX_WALL is "${setting}", but no such wall is available here (${whys}). ${WALL_ADVICE}`,
  );
}

/** Advice for a machine without a wall. */
export const WALL_ADVICE =
  process.platform === 'linux'
    ? 'Install bubblewrap (apt install bubblewrap), and allow this user to create user namespaces.'
    : 'Run workers that execute untrusted code on Linux, where the kernel provides walls.';
