/** Events of the application, under Protolink's names. */
import { randomUUID } from 'node:crypto';
import {
  type RunEvent as EngineEvent,
  RUN_EVENT_VERSION,
  type RunEventType,
} from '../../projections/run/run-event.ts';

import { checkNames } from '../known-names.ts';

/**
 * A RunEvent; fields that are not given have the page's defaults. A sink numbers an event without a sequence.
 * @example
 * ```ts
 * const sink = new InMemoryEventSink();
 * sink.emit(new RunEvent({ type: 'task.progress', summary: 'Halfway done' }));
 * console.log(sink.toList()[0]?.sequence); // 1
 * ```
 */
export class RunEvent implements EngineEvent {
  readonly event_id: string = randomUUID();
  readonly version: string = RUN_EVENT_VERSION;
  readonly type: RunEventType;
  readonly run_id: string | null = null;
  readonly task_id: string | null = null;
  readonly agent_name: string | null = null;
  readonly sequence: number | null = null;
  readonly step: number | null = null;
  readonly span_id: string | null = null;
  readonly parent_span_id: string | null = null;
  readonly action_id: string | null = null;
  readonly parent_action_id: string | null = null;
  readonly delegation_id: string | null = null;
  readonly severity: EngineEvent['severity'] = 'info';
  readonly summary: string | null = null;
  readonly payload: EngineEvent['payload'] = {};
  readonly final: boolean = false;
  readonly metadata: EngineEvent['metadata'] = {};
  readonly timestamp: string = new Date().toISOString();

  constructor(given: Pick<EngineEvent, 'type'> & Partial<EngineEvent>) {
    checkNames('A RunEvent', 'field', given, this);
    this.type = given.type;
    Object.assign(this, given);
  }
}
