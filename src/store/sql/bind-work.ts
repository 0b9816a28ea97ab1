/**
 * Binds the commands for work to one database: threads, their queues, executions, steps, calls, waits, effects and the
 * rest.
 */

import { endAction, recordAction } from '../commands/action/code-action.ts';
import { findDecision } from '../commands/action/earlier-decision.ts';
import { closeLostActions, renewAction } from '../commands/action/lost-action.ts';
import { listActions } from '../commands/action/uncertain-action.ts';
import { binder } from '../commands/base/bind.ts';
import type { CommandContext } from '../commands/base/context.ts';
import { getThread } from '../commands/base/read.ts';
import { emitSpendingVerdict } from '../commands/budget/emit-spending.ts';
import { listWaiting } from '../commands/budget/list-waiting.ts';
import { payInvoked } from '../commands/budget/pay-invoked.ts';
import { readBudget } from '../commands/budget/read-budget.ts';
import {
  expediteEffect,
  listEffects,
  nextEffect,
  removeEffect,
  scheduleEffect,
} from '../commands/effect/effect.ts';
import { beginEffect, endEffect } from '../commands/effect/effect-run.ts';
import { answerVariables } from '../commands/family/answer-variables.ts';
import { findIds } from '../commands/id/find-ids.ts';
import { markDelivered, readDelivery } from '../commands/message/delivery.ts';
import { claimExecution, findClaims } from '../commands/message/execution-claim.ts';
import { readPending } from '../commands/message/pending.ts';
import { countQueued, countTaken, queueItem, spillItems } from '../commands/message/queue.ts';
import { requireRepeat, stageItem } from '../commands/message/staged-item.ts';
import { closeLostProducers, forgetLostTask, listLostTasks } from '../commands/producer/lost-producer.ts';
import {
  appendProduced,
  claimProducer,
  findProducer,
  renewProducer,
  settleProducer,
} from '../commands/producer/producer.ts';
import { claimTask, renewAll } from '../commands/producer/task-adapter.ts';
import { findEnding, markEndTold } from '../commands/run/ending.ts';
import {
  findExecution,
  getExecution,
  getExecutionAt,
  listExecutions,
} from '../commands/run/read-execution.ts';
import { beginStep } from '../commands/step/begin-step.ts';
import { cancelExecution } from '../commands/step/cancel.ts';
import { commitStep, failStep } from '../commands/step/close-step.ts';
import { keepFlow, markGreeted } from '../commands/step/hook.ts';
import { handOverStep } from '../commands/step/open-step.ts';
import { readContext } from '../commands/step/read-context.ts';
import {
  appendChunk,
  emitWaiting,
  endModelCall,
  holdModel,
  startModelCall,
} from '../commands/step/stream.ts';
import { keepSummary } from '../commands/step/summary.ts';
import { takeCensus } from '../commands/thread/census.ts';
import { readFirstWords } from '../commands/thread/first-message.ts';
import { listThreads } from '../commands/thread/list-threads.ts';
import { openThread } from '../commands/thread/open-thread.ts';
import { removeThread } from '../commands/thread/remove-thread.ts';
import { commitStatus, terminateThread } from '../commands/thread/status.ts';
import { setTags } from '../commands/thread/tags.ts';
import { clearStrike, readStrike, recordDeaths } from '../commands/tool/strike.ts';
import { openSubprompt, readSubprompt } from '../commands/tool/subprompt.ts';
import { openImmediate } from '../commands/tool/subprompt-immediate.ts';
import { beginTool, commitTool, settleLostTool } from '../commands/tool/tool.ts';
import { closeApprovals } from '../commands/wait/close-approvals.ts';
import { listForgottenWaits } from '../commands/wait/forgotten-wait.ts';
import { getWait, listWaits } from '../commands/wait/list-waits.ts';
import { reconcileAction } from '../commands/wait/reconcile-action.ts';
import { readShown, showAbove } from '../commands/wait/shown-wait.ts';
import { listUnseenWaits } from '../commands/wait/unseen-wait.ts';
import { answerWait, closeWait, openWait } from '../commands/wait/wait.ts';
import type { ThreadStore } from '../port/thread-store.ts';
import type { AnswerWait } from '../port/wait.ts';

type Work = Pick<
  ThreadStore,
  | 'ids'
  | 'threads'
  | 'queue'
  | 'executions'
  | 'budgets'
  | 'steps'
  | 'subprompts'
  | 'modelCalls'
  | 'toolCalls'
  | 'actions'
  | 'effects'
  | 'producers'
  | 'strikes'
  | 'waits'
>;

export function bindWork(context: CommandContext): Work {
  const bound = binder(context);
  return {
    ids: { find: bound(findIds) },
    threads: {
      census: bound(takeCensus),
      open: bound(openThread),
      get: bound(getThread),
      list: bound(listThreads),
      firstWords: bound(readFirstWords),
      commitStatus: bound(commitStatus),
      terminate: bound(terminateThread),
      setTags: bound(setTags),
      remove: bound(removeThread),
      markGreeted: bound(markGreeted),
    },
    queue: {
      claim: bound(claimExecution),
      findClaims: bound(findClaims),
      readDelivery: bound(readDelivery),
      markDelivered: bound(markDelivered),
      spill: bound(spillItems),
      stage: bound(stageItem),
      requireRepeat: bound(requireRepeat),
      add: bound(queueItem),
      count: bound(countQueued),
      countTaken: bound(countTaken),
      readPending: bound(readPending),
    },
    executions: {
      cancel: bound(cancelExecution),
      get: bound(getExecution),
      find: bound(findExecution),
      at: bound(getExecutionAt),
      findEnding: bound(findEnding),
      markEndTold: bound(markEndTold),
      list: bound(listExecutions),
    },
    steps: {
      begin: bound(beginStep),
      readContext: bound(readContext),
      commit: bound(commitStep),
      fail: bound(failStep),
      handOver: bound(handOverStep),
      keepFlow: bound(keepFlow),
      keepSummary: bound(keepSummary),
    },
    subprompts: {
      open: bound(openSubprompt),
      openImmediate: bound(openImmediate),
      read: bound(readSubprompt),
    },
    modelCalls: {
      start: bound(startModelCall),
      // Streamed text is never sent twice (port, P1).
      appendChunk: bound(appendChunk, { once: true }),
      tellWaiting: bound(emitWaiting, { once: true }),
      hold: bound(holdModel, { once: true }),
      end: bound(endModelCall),
    },
    toolCalls: { begin: bound(beginTool), commit: bound(commitTool), settleLost: bound(settleLostTool) },
    budgets: {
      read: bound(readBudget),
      listWaiting: bound(listWaiting),
      closeApprovals: bound(closeApprovals),
      tell: bound(emitSpendingVerdict),
      payInvoked: bound(payInvoked),
    },
    actions: {
      record: bound(recordAction),
      end: bound(endAction),
      renew: bound(renewAction),
      closeLost: bound(closeLostActions),
      findDecision: bound(findDecision),
      list: bound(listActions),
      reconcile: bound(reconcileAction),
    },
    ...bindEffects(context),
    ...bindWaits(context),
    producers: {
      claim: bound(claimProducer),
      find: bound(findProducer),
      renew: bound(renewProducer),
      tell: bound(appendProduced),
      settle: bound(settleProducer),
      closeLost: bound(closeLostProducers),
      claimTask: bound(claimTask),
      renewAll: bound(renewAll),
      listLostTasks: bound(listLostTasks),
      forgetLostTask: bound(forgetLostTask),
    },
    strikes: { recordDeaths: bound(recordDeaths), read: bound(readStrike), clear: bound(clearStrike) },
  };
}

function bindEffects(context: CommandContext): Pick<ThreadStore, 'effects'> {
  const bound = binder(context);
  return {
    effects: {
      schedule: bound(scheduleEffect),
      list: bound(listEffects),
      hasten: bound(expediteEffect),
      remove: bound(removeEffect),
      next: bound(nextEffect),
      begin: bound(beginEffect),
      end: bound(endEffect),
    },
  };
}

function bindWaits(context: CommandContext): Pick<ThreadStore, 'waits'> {
  const bound = binder(context);
  return {
    waits: {
      open: bound(openWait),
      answer: bound((work, command: AnswerWait) => answerWait(work, command, answerVariables)),
      close: bound(closeWait),
      get: bound(getWait),
      list: bound(listWaits),
      listForgotten: bound(listForgottenWaits),
      listUnseen: bound(listUnseenWaits),
      showAbove: bound(showAbove),
      readShown: bound(readShown),
    },
  };
}
