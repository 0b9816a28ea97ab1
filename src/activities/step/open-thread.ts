/** `openThread`: the first activity of every workflow run: registers it with the store and returns where to go on. */

import { findActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import type { OpenThreadInput, OpenThreadOutcome } from '../../core/thread/open-thread.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentRunId } from '../base/run-ref.ts';
import { agentNotFound } from '../model/request.ts';
import { readStepEnv } from '../model/step-env.ts';
import { definesEndHook, runEndHooks } from './end-hooks.ts';

export async function openThread(
  dependencies: ActivityDependencies,
  input: OpenThreadInput,
): Promise<OpenThreadOutcome> {
  const { store, settings, registry, probe } = dependencies;
  if (input.storeId !== undefined && input.storeId !== store.id) {
    throw new RuntimeError(
      'StoreMismatch',
      `Thread "${input.threadId}" lives in store ${input.storeId}, but this worker uses store ${store.id}.`,
    );
  }
  if (input.storeId !== undefined) await probe?.('thread_opening');
  const { storeId, stored, ...command } = input;
  const opened = await store.threads.open({
    ...command,
    ...(stored ? await store.sent.read(input.threadId, stored) : {}),
    runId: currentRunId(),
    mustExist: storeId !== undefined,
  });
  // The parent must be notified, whoever ended the thread.
  if (opened.kind === 'terminated') {
    await runEndHooks(dependencies, { threadId: input.threadId, status: 'terminated' });
    return { ...opened, storeId: store.id };
  }
  const { thread, afterStep, turnOpen, waiting } = opened;
  const active = findActiveSide(registry(), thread.agent, thread.session.side);
  return {
    kind: 'open',
    storeId: store.id,
    agent: thread.agent,
    status: thread.status,
    settings,
    afterStep,
    turnOpen,
    waiting,
    ...(hasTwoSides(active?.agent) ? { session: thread.session } : {}),
    ...(opened.reportDue ? { reportDue: true } : {}),
    ...(opened.unstarted ? { unstarted: true } : {}),
    ...(thread.childCount > 0 ? { parent: true } : {}),
    ...(definesEndHook(dependencies) ? { tellsEnd: true } : {}),
    ...(active ? { model: active.prompt.model } : { lastError: agentNotFound(thread.agent, thread.id) }),
    ...(active && storeId === undefined ? await findMissing(dependencies, thread) : {}),
  };
}

/** Required variables must have values when a thread is new (definitions §3). Each execution checks them again. */
async function findMissing(
  dependencies: ActivityDependencies,
  thread: ThreadRecord,
): Promise<{ lastError?: StoredError }> {
  const env = await readStepEnv(dependencies, thread, { begun: false });
  return env.ok ? {} : { lastError: env.error };
}
