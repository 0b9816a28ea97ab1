/** The processes behind a wall, in the host's own numbers: the wall's program has children, and one of them is Node. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Enclosed {
  /** Node's. */
  readonly pid: number;
  /** Its death ends all that the wall's program started, and the program reaps it. */
  readonly victim: number;
}

/** `started` is what was spawned: Node itself, or the wall's program above it. */
export function findEnclosed(started: number): Enclosed {
  if (process.platform !== 'linux') return { pid: started, victim: started };
  const line = [started];
  for (let next = childOf(started); next !== undefined; next = childOf(next)) line.push(next);
  return { pid: line.at(-1) as number, victim: line[1] ?? started };
}

function childOf(pid: number): number | undefined {
  try {
    const [first] = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
    );
    if (first !== undefined) return Number(first);
    return undefined;
  } catch {
    return childByStatus(pid);
  }
}

/** Where the kernel does not list children. */
function childByStatus(parent: number): number | undefined {
  const entries = existsSync('/proc/self') ? readdirSync('/proc') : [];
  return entries
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .find((pid) => {
      try {
        return new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'latin1'));
      } catch {
        return false;
      }
    });
}
