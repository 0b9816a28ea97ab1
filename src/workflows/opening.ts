/**
 * Opens a run: loads from the store the state of the thread, the worker settings that apply, and whether the thread has
 * ended.
 */
import type { OpenThreadOutcome } from '../core/thread/open-thread.ts';
import { settle, showActivityAtRest } from './rest.ts';
import type { ThreadRun } from './thread-run.ts';

type Opened = Extract<OpenThreadOutcome, { kind: 'open' }>;

export async function open(run: ThreadRun): Promise<void> {
  const { agent, userId, arguments: threadArguments, parentId, rootId, context, tags, stored } = run.start;
  const { activities } = run;
  const opened = await activities.openThread({
    agent,
    userId,
    arguments: threadArguments,
    parentId,
    rootId,
    ...(context ? { context } : {}),
    ...(tags ? { tags } : {}),
    ...(stored ? { stored } : {}),
  });
  if (opened.kind === 'terminated') {
    activities.bind(activities.storeId ?? opened.storeId);
    run.end();
    return;
  }
  activities.bind(opened.storeId, opened.settings);
  run.presence.adopt({ agent: opened.agent, model: opened.model ?? '' });
  run.turn.adoptSession(opened.session);
  run.family.open(opened);
  run.tellsEnd = opened.tellsEnd === true;
  if (run.start.carried === null) resume(run, opened);
  run.open(opened.settings);
  showActivityAtRest(run);
  run.presence.announce();
  if (opened.lastError && !run.hasWork) await settle(run, { status: 'failed', error: opened.lastError });
}

/** Continues from the state in the store if nothing was carried over: at the first start, or after a killed run. */
function resume(run: ThreadRun, { status, afterStep, turnOpen, waiting }: Opened): void {
  run.turn.resume({ afterStep, turnOpen });
  // A stop that arrived with the start, after all its messages, holds: this is the case if a stop revives a killed run.
  const stopHolds = run.requests.stop !== undefined;
  run.inbox.resume({ waiting, stopped: status === 'stopped', stopHolds });
  if (turnOpen) run.presence.resume('running');
  else run.presence.resume(status === 'running' ? 'idle' : status);
}
