/** The command that starts a child's program behind a wall of one kind. */
import { encloseByBubblewrap } from './bubblewrap.ts';
import { encloseByNamespaces } from './namespaces.ts';
import { nodeOptions } from './node-options.ts';
import { encloseByNothing } from './plain.ts';
import type { Enclosure, WallKind } from './wall.ts';

export interface Program {
  readonly main: string;
  readonly args: readonly string[];
  /** Whether it may start threads of its own. */
  readonly threads: boolean;
  /** Without Node's permission model: what a probe finds held is held by the wall. */
  readonly bare?: boolean;
}

/** Throws when the machine has not what the wall is built with. */
export function enclose(kind: WallKind, { main, args, threads, bare = false }: Program): Enclosure {
  const options = bare ? [] : nodeOptions(main, threads);
  const enclosed = { main, command: [process.execPath, ...options, main, ...args] };
  const enclosure = ENCLOSE[kind](enclosed);
  if (!enclosure) throw new Error(`the program for the wall "${kind}" is not installed`);
  return enclosure;
}

const ENCLOSE = {
  bubblewrap: encloseByBubblewrap,
  namespaces: encloseByNamespaces,
  none: encloseByNothing,
} as const;
