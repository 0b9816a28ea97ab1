/** Builds the command that starts a child's program behind a wall of one kind. */
import { encloseByBubblewrap } from './bubblewrap.ts';
import { encloseByNamespaces } from './namespaces.ts';
import { nodeOptions } from './node-options.ts';
import { encloseByNothing } from './plain.ts';
import type { Enclosure, WallKind } from './wall.ts';

export interface Program {
  readonly main: string;
  readonly args: readonly string[];
  /** Whether the program may start threads. */
  readonly threads: boolean;
  /** Without Node's permission model: a probe then tests the wall alone. */
  readonly bare?: boolean;
}

/** Throws if this machine lacks the programs that the wall needs. */
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
