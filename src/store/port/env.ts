/**
 * The part of the ThreadStore port that keeps variables (definitions §16): values of threads, users and the instance.
 * N1. Every value is encrypted at rest (`crypto/encryption.ts`), a text's as a secret's. Without a key, or for a value whose
 *     key is unknown, commands throw `InvalidConfiguration`, which names the key's id and never a value.
 * N2. Each command may be given twice: (scope, owner, name) is the key.
 */

import type { EnvType } from '../../core/author/thread-env.ts';
import type { StoredVariable } from '../../core/project/env.ts';

/** The owner of a value. A thread or a user need not be known yet. */
export type EnvOwner = { readonly thread: string } | { readonly user: string } | { readonly instance: true };

export interface SetEnv {
  readonly owner: EnvOwner;
  readonly name: string;
  readonly value: string;
  /** Absent: keeps the type that it has; a new one is a secret. */
  readonly type?: EnvType;
  /**
   * For a thread's variable: whether threads of this agent take it over from their parent. The value then reaches the
   * living descendants, up to those that do not. Absent: this thread alone.
   */
  readonly inherits?: (agent: string) => boolean;
  /** No prompt of the thread shows it, until somebody sets it anew (core/project/env.ts, V3). Descendants' copies stay as they are. */
  readonly withheld?: boolean;
}

/** A variable as it may be shown: only texts come with their value. */
export interface EnvEntry {
  readonly name: string;
  readonly type: EnvType;
  readonly value?: string;
  /** Id of the key that it is encrypted with. */
  readonly keyId: string;
  readonly updatedAt: number;
}

export interface RotatedEnv {
  /** Id of the key that all values are encrypted with now. */
  readonly keyId: string;
  readonly rotated: number;
}

export interface EnvStore {
  /**
   * Answers the type that the variable has now. Rejects with `InvalidVariable`, and with `ThreadTerminated` for a variable of a
   * thread that has ended.
   */
  set(command: SetEnv): Promise<EnvType>;
  /** False when it was not there. Descendants keep theirs. */
  unset(owner: EnvOwner, name: string): Promise<boolean>;
  /** Ordered by name. A text that cannot be decrypted comes without its value. */
  list(owner: EnvOwner): Promise<readonly EnvEntry[]>;
  /** Every value of the thread, its user and the instance, by name; also those that a nearer one hides. */
  read(threadId: string, userId: string | null): Promise<readonly StoredVariable[]>;
  /** Encrypts all values anew that have another key than the active one; all keys in use must be known. Each is a write of its own. */
  rotate(): Promise<RotatedEnv>;
}
