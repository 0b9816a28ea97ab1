/**
 * The part of the ThreadStore port that stores variables (definitions §16): values of threads, users and the instance.
 * - Every value, text or secret, is encrypted at rest (`crypto/encryption.ts`). Without a key, or for a value whose
 *   key is unknown, commands throw `InvalidConfiguration`, which names the key's id and never a value.
 * - Each command may be given twice: (scope, owner, name) is the key.
 *
 * The table of variables: of a thread, of a user, or of the instance, whose owner is ''.
 */
import type { EnvType } from '../../core/author/thread-env.ts';

/** The owner of a value. The thread or user need not exist yet. */
export type EnvOwner = { readonly thread: string } | { readonly user: string } | { readonly instance: true };

export interface SetEnv {
  readonly owner: EnvOwner;
  readonly name: string;
  readonly value: string;
  /**
   * The type of the variable, and of its copies in descendants. If absent, each thread keeps the type that it has, except that
   * the copies of a secret are secrets; a new variable has the type `known`.
   */
  readonly type?: EnvType;
  /** The type that the variable has where the code reads it, such as by a declaration; default `secret`. */
  readonly known?: EnvType;
  /**
   * For a thread's variable: true if threads of this agent inherit it from their parent. The value is then copied to
   * the living descendants, down to those that do not inherit it. If absent, it is set for this thread only.
   */
  readonly inherits?: (agent: string) => boolean;
  /**
   * True if no prompt of the thread may show it until it is set again (core/project/env.ts, V3). Of descendants, their entries
   * decide.
   */
  readonly withheld?: boolean;
}

/** A variable as it may be shown: only texts have their value. */
export interface EnvEntry {
  readonly name: string;
  readonly type: EnvType;
  readonly value?: string;
  /** Id of the key that the value is encrypted with. */
  readonly keyId: string;
  readonly updatedAt: number;
}

/** A variable that a thread may read, without its value: its own, its user's or the instance's. */
export interface ThreadVariable {
  readonly name: string;
  readonly type: EnvType;
  readonly source: 'thread' | 'user' | 'instance';
  /** Microseconds since 1970. */
  readonly updatedAt: number;
  /** Set if a narrower source has the same name: the thread reads that one. */
  readonly overridden?: true;
}

export interface RotatedEnv {
  /** Id of the key that all values are encrypted with now. */
  readonly keyId: string;
  readonly rotated: number;
}

export interface EnvTable {
  scope: 'thread' | 'user' | 'instance';
  owner: string;
  name: string;
  type: 'text' | 'secret';
  /** The id of the key that `value` is encrypted with (crypto/encryption.ts). */
  key_id: string;
  value: string;
  updated_at: number;
  /** 1: a copy of a parent's value that no prompt may show. */
  withheld: number;
}

export interface EnvTables {
  env_values: EnvTable;
}
