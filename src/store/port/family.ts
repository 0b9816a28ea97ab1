/**
 * Families (runtime §7, §8): children with their registry, reports, requests for variables, and all threads below one root. All
 * threads of a family live in one store, so whatever touches two threads is one transaction.
 * F1. Each command may be given twice: a call makes one child, an item id is stored once, a report is delivered once.
 * F2. Files go along in the same transaction: a copy has a path of its own in the thread that it comes to, and its name for
 *     people is kept. A copy that is there already is not made again.
 * F3. A command locks one thread's row: the one whose log and queue it writes. Where it writes two, the parent's first.
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

/** A thread that is not known has no family. */
export interface FamilyStore {
  /** A thread with all that descend from it, each behind its parent. */
  read(threadId: string): Promise<readonly FamilyMember[]>;
  /** The living, parents before their children. */
  listDescendants(
    threadId: string,
  ): Promise<readonly { readonly threadId: string; readonly agent: string }[]>;
  /** Relatives at rest that have something in their queues of which nobody may have told them. Stopped ones rest as they should. */
  listForgotten(threadId: string): Promise<readonly string[]>;
}
