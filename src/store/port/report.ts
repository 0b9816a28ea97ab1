/** Reports (runtime §8.2): stored with the end of a child's execution (`threads.commitStatus`), then delivered to the parent. */
import type { Side } from '../../core/author/thread-execution.ts';
import type { Message } from '../../core/message/message.ts';
import type { ReportKind } from '../../core/thread/subagent-report.ts';
import type { ChildRecord } from './child.ts';

/** A report that its child has made and its parent has not heard. */
export interface DueReport {
  readonly id: string;
  readonly kind: ReportKind;
  readonly child: ChildRecord;
}

export interface DeliveredReport {
  /** `message`: queued to the parent. `call`: marked for the call that waits; `finishSubagent` stores its result. `dropped`: told nobody, as it should be. */
  readonly by: 'message' | 'call' | 'dropped';
  /** The parent is over: nobody is to be woken. */
  readonly parentEnded: boolean;
  /** Waits below the child have held the parent up, and those above it may not know that they are over. */
  readonly heldUp?: true;
}

export interface LastStep {
  readonly side: Side;
  /** Of its calls, in order. */
  readonly results: readonly Message[];
}

export interface ReportStore {
  /** The last step of the thread's own, not of its sub-prompts, that has an answer. Null where there is none. */
  readLastStep(threadId: string): Promise<LastStep | null>;
  /** In the order in which they were made. */
  listDue(childId: string): Promise<readonly DueReport[]>;
  /**
   * Gives a report to the parent: to the call that waits for it, else as a queued message unless communication is explicit.
   * A call is not answered by what the child said before it had read the call's message.
   * `stopped` only to a call; `terminated` only where the parent is owed something. Event `subagent.returned` or `subagent.failed`.
   * Once: given again, it answers what became of the report. Rejects with `ThreadNotFound` for an unknown one.
   */
  deliver(childId: string, reportId: string): Promise<DeliveredReport>;
}
