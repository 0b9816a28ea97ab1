/**
 * Families (runtime §7, §8): children with their registry, reports, requests for variables, and all threads below one
 * root. All threads of a family are in one store, so a command that writes two threads is one transaction.
 * F1. Each command may be given twice: a call creates one child, an item id is stored once, a report is delivered once.
 * F2. Files are copied in the same transaction. A copy gets its own path in the receiving thread and keeps its display
 *     name. An existing copy is not made again.
 * F3. A command locks the row of the thread whose log and queue it writes. If it writes two, it locks the parent's
 *     first.
 */

import type { ThreadRecord } from '../thread/thread-record.ts';
import type { ChildRecord } from './child-record.ts';

/** One thread of a family tree. */
export interface FamilyMember {
  readonly thread: ThreadRecord;
  /** Null for the root. */
  readonly child: ChildRecord | null;
  /** 0 for the root. */
  readonly depth: number;
}
