/** The kinds of wall for sandbox children, from the best to none, and the description of the chosen one. */

/** `none`: only Node's permission model, which is the same on all platforms but not enforced by the kernel. */
export type WallKind = 'bubblewrap' | 'namespaces' | 'none';

/** `required`: any wall of the kernel; without one, no program is run. */
export const WALL_SETTINGS = ['auto', 'bubblewrap', 'namespaces', 'none', 'required'] as const;
export type WallSetting = (typeof WALL_SETTINGS)[number];

/** True if a machine without such a wall is refused. */
export const isDemanding = (setting: WallSetting): boolean => setting !== 'auto' && setting !== 'none';

/** Protections of a wall, as a probe behind it tests them. */
export const PROTECTIONS = ['environment', 'files', 'writing', 'network', 'processes'] as const;
export type Protection = (typeof PROTECTIONS)[number];

export interface Wall {
  readonly kind: WallKind;
  /** Protections that the kernel enforces; empty without a wall. */
  readonly holds: readonly Protection[];
  /** Whether the wall also has a system call filter. */
  readonly seccomp: boolean;
  /** Why each better wall is not available, as its probe found. */
  readonly missing: readonly { readonly kind: WallKind; readonly why: string }[];
}

/** File descriptors of the child; 0 to 2 are the standard ones. */
export const CHANNEL_FD = 3;
export const FILTER_FD = 4;
