/**
 * Families (runtime §7, §8): children with their registry, reports, requests for variables, and all threads below one
 * root. All threads of a family are in one store, so a command that writes two threads is one transaction.
 * F1. Each command may be given twice: a call creates one child, an item id is stored once, a report is delivered once.
 * F2. Files are copied in the same transaction. A copy gets its own path in the receiving thread and keeps its display
 *     name. An existing copy is not made again.
 * F3. A command locks the row of the thread whose log and queue it writes. If it writes two, it locks the parent's
 *     first.
 */
import type { ChildRecord } from './child.ts';
import type { ThreadRecord } from './thread.ts';

export type * from './child.ts';
export type * from './report.ts';
export type * from './variable-request.ts';

/** One thread of a family tree. */
export interface FamilyMember {
  readonly thread: ThreadRecord;
  /** Null for the root. */
  readonly child: ChildRecord | null;
  /** 0 for the root. */
  readonly depth: number;
}

/** For an unknown thread all reads return an empty list. */
export interface FamilyStore {
  /** A thread and all its descendants, each after its parent. */
  read(threadId: string): Promise<readonly FamilyMember[]>;
  /** Descendants that are not terminated, parents before their children. */
  listDescendants(
    threadId: string,
  ): Promise<readonly { readonly threadId: string; readonly agent: string }[]>;
  /**
   * Other threads of the family that are at rest with queued items and may not have been notified of them. Stopped
   * threads are left out.
   */
  listForgotten(threadId: string): Promise<readonly string[]>;
}
