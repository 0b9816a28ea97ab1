/**
 * The act of a step: the decided action passes the stages of the tool gate that fit it, and is done at most once,
 * unless its task is idempotent. A failed act is an outcome that the adapter observes; nothing here ends a task except
 * `onActError: 'stop'`.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { withinTime } from '../../author/guard/within-time.ts';
import { type AskedAction, findEvaluators, showAction } from '../../author/policy/asked-action.ts';
import { end, go, openGate, type Verdict } from '../../author/policy/gate.ts';
import { withActionLease } from '../../author/policy/invoked-action.ts';
import {
  type Asked,
  findEarlier,
  type Judged,
  judgeAction,
  refuseAction,
  refuseDenied,
  toDenial,
  toRefusal,
} from '../../author/policy/judge-action.ts';
import type { AnsweredCall } from '../../author/tool/check-arguments.ts';
import type { ActContext, ActionOutcome } from '../../core/author/task.ts';
import { ACTION_LEASE } from '../../core/governance/action-lease.ts';
import { findRules, NO_RULES } from '../../core/governance/agent-policy.ts';
import { readPrepared } from '../../core/governance/prepared-action.ts';
import type { TaskDecision } from '../../core/task/control.ts';
import type { TaskSessions } from '../../core/task/session.ts';
import type { WaitingCall } from '../../core/thread/step.ts';
import type { TaskPause, TaskStepInput } from '../../core/thread/task-step.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { isRecord } from '../../core/value/record.ts';
import { readField } from '../../core/value/thrown.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { TaskStepRecord } from '../../store/task/task-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import {
  ACTION_BYTES,
  failTask,
  openFrame,
  runPhase,
  type TaskFrame,
  toDecideContext,
} from './task-frame.ts';
import { startThread } from './thread.ts';

const TASK_ACT = openGate<ActivityDependencies, TaskCall, ActGateEnd>()
  .stage(askTask) //       4 policy: what it asks for, prepared by its adapter
  .stage(refuseDenied) //  4 policy: refused if a declared capability is denied
  .stage(judgeAction) //   4 policy: the decision on that action
  .stage(approveTask) //   4 policy: waits for an approval
  .stage(beginTask) //     4 stored as begun, at most once
  .stage(runAct); //       5 the `act` of its adapter

const USUAL_ACT_MS = 30 * 60_000;

type ActOutcome = { readonly kind: 'acted' } | TaskPause;

export async function actOnce(dependencies: ActivityDependencies, input: TaskStepInput): Promise<ActOutcome> {
  const { probe } = dependencies;
  const frame = await openFrame(dependencies, input);
  const { loop, step } = frame;
  const seen = loop.steps.find((each) => each.step === step);
  const { decision: act, act: state } = seen ?? {};
  if (loop.task.verdict) return { kind: 'stops' };
  if (!seen || act?.kind !== 'act' || state === 'over') return { kind: 'acted' };
  await probe?.('task_not_begun');
  const attempt = randomUUID();
  const passed = await TASK_ACT.pass(dependencies, { frame, seen, act, attempt });
  if (passed.kind === 'go') return finishAct(dependencies, frame, { ...passed.known, attempt });
  switch (passed.end.kind) {
    case 'waits':
      return passed.end;
    case 'answered':
      return refuseAct(dependencies, frame, passed.end);
    case 'settled':
      return stopsAfter(dependencies, input);
    case 'terminated':
      return { kind: 'terminated' };
  }
}

type BegunKeys = Pick<ActContext, 'idempotencyKey' | 'repeated'>;

async function beginTask(
  { store, probe }: ActivityDependencies,
  { frame, attempt, action }: TaskCall & Judged,
) {
  const { run, step, definition, signal } = frame;
  const again = definition.idempotent === true;
  const begun = await retryWhileUnavailable(signal, () =>
    store.tasks.beginAct({ ...run, step, attempt, again }),
  );
  if (begun.kind !== 'run') return end(begun);
  if (action)
    await store.actions.record({ threadId: run.threadId, told: action, leaseMs: ACTION_LEASE.forMs, step });
  await probe?.('task_begun');
  return go({ idempotencyKey: begun.idempotencyKey, repeated: begun.repeated });
}

async function runAct(
  dependencies: ActivityDependencies,
  { frame, seen, act, action, idempotencyKey, repeated }: TaskCall & Judged & BegunKeys,
): Promise<Verdict<{ readonly outcome: ActionOutcome }, ActGateEnd>> {
  const { definition, signal } = frame;
  const { adapter, timeoutMs = USUAL_ACT_MS } = definition;
  const context: ActContext = {
    ...toDecideContext(frame, seen),
    idempotencyKey,
    repeated,
    sessions: openSessions(dependencies.store, frame.run.threadId),
    startThread: (thread) => startThread(dependencies, frame, { ...thread, idempotencyKey }),
  };
  const acted = await runPhase(frame, 'act', () =>
    withActionLease(dependencies, action, async () => {
      const work = async () => adapter.act?.(act.action, context);
      const result = await withinTime(work, { timeoutMs, signal });
      const text = toJsonText(result ?? null, { name: 'the result of the act', maxBytes: ACTION_BYTES });
      return JSON.parse(text) as unknown;
    }),
  );
  if (acted.ok) return go({ outcome: { ok: true, result: acted.value } });
  const { error, message } = acted;
  const code = isRuntimeError(error) ? { code: error.code } : {};
  const costUsd = readField(error, 'costUsd');
  return go({ outcome: { ok: false, error: message, ...code, ...(isCost(costUsd) ? { costUsd } : {}) } });
}

function openSessions({ tasks }: ThreadStore, threadId: string): TaskSessions {
  return {
    get: (id) => tasks.getSession(threadId, id),
    put: (session) => tasks.putSession({ ...session, threadId }),
  };
}

async function finishAct(
  dependencies: ActivityDependencies,
  frame: TaskFrame,
  done: {
    readonly act: Act;
    readonly attempt: string;
    readonly outcome: ActionOutcome;
    readonly action: DecidedAction | undefined;
  },
): Promise<ActOutcome> {
  const { store, probe } = dependencies;
  const { run, step, definition, loop, signal } = frame;
  const { outcome, attempt, action } = done;
  const { getActionCostUsd } = definition.adapter;
  const asked =
    getActionCostUsd && outcome.ok
      ? await runPhase(frame, 'getActionCostUsd', () =>
          getActionCostUsd({
            task: loop.task.spec,
            action: done.act.action,
            result: outcome.result,
            stepIndex: step,
          }),
        )
      : undefined;
  const cost = asked?.ok && isCost(asked.value) ? { costUsd: asked.value } : {};
  const errors = asked && !asked.ok ? [{ phase: asked.phase, stepIndex: step, message: asked.message }] : [];
  await probe?.('task_acted');
  if (signal.aborted) throw abortError();
  await retryWhileUnavailable(signal, () =>
    store.tasks.endAct({ threadId: run.threadId, step, attempt, outcome: { ...outcome, ...cost }, errors }),
  );
  await probe?.('task_act_kept');
  if (action) {
    const { ok, error } = outcome;
    const status = ok ? 'success' : 'error';
    // The act was done; a log that cannot be written must not make it appear undone.
    await store.actions
      .end({ id: action.action.id, threadId: run.threadId, status, error })
      .catch(() => undefined);
  }
  return outcome.ok ? { kind: 'acted' } : afterFailure(dependencies, frame, outcome);
}

function isCost(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

async function refuseAct(
  dependencies: ActivityDependencies,
  frame: TaskFrame,
  { result, action }: AnsweredCall,
): Promise<ActOutcome> {
  const { store } = dependencies;
  const { run, step } = frame;
  if (action)
    await store.actions.record({ threadId: run.threadId, told: action, leaseMs: ACTION_LEASE.forMs, step });
  const { error = 'it was not done', error_code: code } = result;
  const outcome: ActionOutcome = { ok: false, error, ...(code ? { code } : {}) };
  await store.tasks.endAct({ threadId: run.threadId, step, outcome });
  return afterFailure(dependencies, frame, outcome);
}

export async function afterFailure(
  { store }: ActivityDependencies,
  frame: TaskFrame,
  { error = 'it failed' }: ActionOutcome,
): Promise<ActOutcome> {
  if (frame.definition.onActError !== 'stop') return { kind: 'acted' };
  const failed = await failTask(store, frame, { phase: 'act', message: error });
  return { kind: failed === 'terminated' ? failed : 'stops' };
}

/** An outcome that another attempt has stored is judged like this one's own. */
async function stopsAfter(dependencies: ActivityDependencies, input: TaskStepInput): Promise<ActOutcome> {
  const frame = await openFrame(dependencies, input);
  const { outcome } = frame.loop.steps.find((each) => each.step === input.step) ?? {};
  return outcome && !outcome.ok ? afterFailure(dependencies, frame, outcome) : { kind: 'acted' };
}

export type Act = Extract<TaskDecision, { kind: 'act' }>;

export interface TaskCall {
  readonly frame: TaskFrame;
  readonly seen: TaskStepRecord;
  readonly act: Act;
  /** Unique name of the attempt. */
  readonly attempt: string;
}

/** This attempt has nothing left to do. */
interface NotBegun {
  readonly kind: 'settled' | 'terminated';
}

export type ActGateEnd = AnsweredCall | WaitingCall | NotBegun;

interface AskedBefore {
  /** Fingerprint of the act, if its approval has been asked for: then the answer counts, whatever the policy is now. */
  readonly askedBefore: string | undefined;
}

export async function askTask(
  { store, registry }: ActivityDependencies,
  { frame, seen, act }: TaskCall,
): Promise<Verdict<Asked & AskedBefore, ActGateEnd>> {
  const { definition, run, step, signal } = frame;
  const project = registry();
  const { agent = definition.name } = definition;
  const policy = definition.agent ? project.agents.get(agent)?.policy : undefined;
  const { permissions = {} } = frame.loop.context ?? {};
  const id = `${run.threadId}:${step}`;
  const [known] = frame.loop.task.status === 'waiting' ? await store.actions.list({ id }) : [];
  const askedBefore = known?.state === 'requested' ? known.fingerprint : undefined;
  const rules = findRules(policy, { permissions }) ?? (askedBefore === undefined ? undefined : NO_RULES);
  // No policy judges the act.
  if (!rules) return go({ asked: undefined, askedBefore });
  const thread = await store.threads.get(run.threadId);
  if (!thread) return end({ kind: 'terminated' });
  const prepared = await prepareAct(frame, seen, act);
  if (!prepared.ok) {
    const error = `"${definition.name}" did not act, because it could not be prepared: ${prepared.message}`;
    return end({ kind: 'answered', result: { status: 'error', error }, refused: true });
  }
  const { capabilities = [] } = prepared.value;
  const asked: AskedAction = {
    id,
    kind: 'task.act',
    name: readActionName(act, definition.name),
    rules,
    signal,
    step,
    thread: { ...thread, agent },
    capabilities: [...(definition.capabilities ?? []), ...capabilities],
    args: act.action,
    prepared: prepared.value,
    ...findEvaluators(project, rules.policy, agent),
    runContext: null,
  };
  return go({ asked, askedBefore });
}

function prepareAct(frame: TaskFrame, seen: TaskStepRecord, { action }: Act) {
  const { prepareAction } = frame.definition.adapter;
  return runPhase(frame, 'prepareAction', async () =>
    readPrepared(await prepareAction?.(action, toDecideContext(frame, seen))),
  );
}

/** The name that the action states, directly or as `type`, `kind` or `name`; `otherwise` if it states none. */
function readActionName({ action }: Act, otherwise: string): string {
  const kind = isRecord(action) ? (action.type ?? action.kind ?? action.name) : action;
  return typeof kind === 'string' && kind !== '' ? kind.slice(0, 128) : otherwise;
}

export async function approveTask(
  { store, probe }: ActivityDependencies,
  { asked, action, frame, askedBefore }: TaskCall & Asked & Judged & AskedBefore,
) {
  if (!asked || !action) return go();
  const { fingerprint } = action.action;
  if (action.decision.effect !== 'require_approval' && fingerprint !== askedBefore) return go();
  const earlier = await findEarlier(store, asked, action);
  if (earlier) return earlier.approved ? go() : refuseAction(action, toRefusal(earlier));
  if (asked.rules.policy.approvals === 'refuse') return refuseAction(action, toDenial(action.decision));
  const { waitTimeoutMs: expiresInMs } = frame.definition;
  // Set before the wait is opened: whoever sees the wait must see a task that waits.
  await store.tasks.rest({ ...frame.run, waits: true });
  try {
    const opened = await retryWhileUnavailable(asked.signal, () =>
      store.waits.open({
        id: randomUUID(),
        threadId: asked.thread.id,
        key: `approval:${frame.step}:${fingerprint}`,
        kind: 'approval',
        name: asked.name,
        ...showAction(asked, action),
        fingerprint,
        blocks: true,
        action,
        expiresInMs,
      }),
    );
    await probe?.('wait_opened');
    if (opened.kind === 'open') return end(toWaitingCall(opened.wait));
    if (opened.kind === 'over') return judgeAnswer(action, opened.wait);
    return end({ kind: 'terminated' });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    // The act cannot be shown to anyone, so it cannot be approved.
    const reason = `Its approval could not be requested: ${errorMessage(error)}`;
    return refuseAction(action, { code: 'ApprovalRequired', reason });
  }
}

/** Anything but an approval refuses. */
function judgeAnswer(action: DecidedAction, { answer, state, reason }: Wait) {
  if (answer && 'approved' in answer && answer.approved) return go();
  if (answer && 'approved' in answer) return refuseAction(action, toRefusal(answer));
  return refuseAction(action, {
    code: 'ActionDenied',
    reason: `Its approval was not given: ${reason ?? state}.`,
  });
}
