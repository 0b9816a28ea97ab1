/** The walls that a sandbox child may stand behind, from the best to none, and the one that was chosen. */

/** `none`: Node's permission model alone, which is the same everywhere and is no wall of the kernel's. */
export type WallKind = 'bubblewrap' | 'namespaces' | 'none';

/** `required`: a wall of the kernel's, whichever, or no program is run. */
export const WALL_SETTINGS = ['auto', 'bubblewrap', 'namespaces', 'none', 'required'] as const;
export type WallSetting = (typeof WALL_SETTINGS)[number];

/** Whether a machine without such a wall is refused. */
export const isDemanding = (setting: WallSetting): boolean => setting !== 'auto' && setting !== 'none';

/** What a child is kept from, as a probe behind the wall found it. */
export const HOLDS = ['environment', 'files', 'writing', 'network', 'processes'] as const;
export type Hold = (typeof HOLDS)[number];

export interface Wall {
  readonly kind: WallKind;
  /** What the kernel keeps from a child; empty behind no wall. */
  readonly holds: readonly Hold[];
  /** Whether a filter of system calls stands behind it too. */
  readonly seccomp: boolean;
  /** Why each better wall is not there, as it was found. */
  readonly missing: readonly { readonly kind: WallKind; readonly why: string }[];
}

/** What is started, in place of Node itself. */
export interface Enclosure {
  readonly command: readonly [program: string, ...args: string[]];
  /** Read by the wall from the descriptor after the channel. */
  readonly filter?: Buffer;
}

/** What is to run behind a wall. */
export interface EnclosedCommand {
  /** Node, its options, the program and its arguments. */
  readonly command: readonly string[];
  readonly main: string;
}

/** The child's descriptors: 0 to 2 as everywhere. */
export const CHANNEL_FD = 3;
export const FILTER_FD = 4;
