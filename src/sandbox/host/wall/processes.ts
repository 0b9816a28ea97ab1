/** Finds the processes behind a wall, by their ids on the host: the wall's program has descendants, and one is Node. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Enclosed {
  /** Id of Node's process. */
  readonly pid: number;
  /** Id of the process whose death ends all that the wall's program started, and which that program reaps. */
  readonly victim: number;
}

/** `started` is the id of the spawned process: Node itself, or the wall's program above it. */
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

/** Fallback if the kernel does not list children. */
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
