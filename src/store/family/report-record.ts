/** Reports (runtime §8.2): stored with the end of a child's execution (`threads.commitStatus`), then delivered to the parent. */
import type { Side } from '../../core/author/thread-execution.ts';
import type { Message } from '../../core/message/message.ts';
import type { ReportKind } from '../../core/thread/subagent-report.ts';
import type { ChildRecord } from './child-record.ts';

/** A report that a child has made and that was not yet delivered to its parent. */
export interface DueReport {
  readonly id: string;
  readonly kind: ReportKind;
  readonly child: ChildRecord;
}

export interface DeliveredReport {
  /**
   * `message`: queued to the parent. `call`: marked for the call that waits; `finishSubagent` stores its result.
   * `dropped`: deliberately not delivered.
   */
  readonly by: 'message' | 'call' | 'dropped';
  /** True if the parent has ended and must not be woken. */
  readonly parentEnded: boolean;
  /**
   * Set if waits of descendants have blocked the parent: its ancestors must be notified, so that they update what they
   * show.
   */
  readonly updatesAncestors?: true;
}

export interface LastStep {
  readonly side: Side;
  /** Tool messages of its calls, in order. */
  readonly results: readonly Message[];
}
