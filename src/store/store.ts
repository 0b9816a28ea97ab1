/**
 * The store: everything of a thread that Temporal must not carry, grouped by what is stored. The table below is the
 * store; a command's file says what it takes, returns and rejects with.
 * P6. Each command is one transaction and idempotent: natural keys guard against a command given twice. Streamed text
 *     has no key, and is never sent twice. Exceptions are noted at the command.
 * P7. Commands of a workflow carry its run id; a command of a retired run rejects with `StaleRun` (the fence). Those
 *     that begin work of the thread's one flow, or end it, carry the attempt of their activity; one from an older
 *     attempt or activity than the newest rejects with `StaleAttempt`. Not fenced are outcomes, which are true whichever
 *     run reports them (of a tool call, an act, an effect), and streamed text, which is dropped silently.
 * P3. On a terminated thread commands return `terminated` (or reject with `ThreadTerminated`) and change nothing; only
 *     a tool's late result is still logged.
 * - Every command may reject with `StoreUnavailable`, `StoreFull`, `StoreLost` or `StoreCorrupt`: then it is unknown
 *   whether anything was stored, and the same command may be given again.
 * Times are microseconds since 1970.
 */
import { beginA2aTask, listUnwantedA2aTasks, noteA2aTask } from './a2a/a2a-task.ts';
import { closeLostActions, endAction, recordAction, renewAction } from './action/code-action.ts';
import { findDecision } from './action/earlier-decision.ts';
import { listActions, reconcileAction } from './action/uncertain-action.ts';
import { emitSpendingVerdict, listWaiting, payInvoked, readBudget } from './budget/budget.ts';
import {
  beginEffect,
  endEffect,
  expediteEffect,
  listEffects,
  nextEffect,
  removeEffect,
  scheduleEffect,
} from './effect/effect.ts';
import { listEnv, listThreadEnv, readEnv, rotateEnv, setEnv, unsetEnv } from './env/env.ts';
import { cancelExecution } from './execution/cancel.ts';
import {
  findEnding,
  findExecution,
  getExecution,
  getExecutionAt,
  listExecutions,
  markEndHooksRun,
} from './execution/read-execution.ts';
import { removeChunks } from './execution/remove-chunks.ts';
import { releaseCall, sendToChild, sendToParent, setChildStatus } from './family/child.ts';
import { createChild, judgeChild } from './family/child-create.ts';
import { copyFileFrom } from './family/child-files.ts';
import {
  getChild,
  hasResumable,
  listChildren,
  listDescendants,
  listForgotten,
  listUnstarted,
  readChildCall,
  readFamily,
  readTeamStatus,
} from './family/family-tree.ts';
import { deliverReport, listDueReports, readLastStep } from './family/report.ts';
import {
  answerVariables,
  fulfilRequest,
  getRequest,
  listRequests,
  saveRequest,
} from './family/variable-request.ts';
import {
  findFiles,
  getFileStats,
  getFileThumbnail,
  grepFiles,
  openFile,
  readdirFile,
  readFileChunk,
  statFile,
} from './file/file-read.ts';
import { mkdirFile, rmdirFile, unlinkFile } from './file/file-tree.ts';
import { stageFile, writeFile } from './file/file-write.ts';
import { makeFork } from './fork/fork.ts';
import { getGrant, listGrants, revokeGrant } from './grant/grant.ts';
import { findIds } from './id/find-ids.ts';
import { listMcp, saveMcp } from './mcp/mcp-list.ts';
import { noteMemory, recallMemory } from './memory/memory.ts';
import { claimExecution, findClaims } from './message/execution-claim.ts';
import { deleteMessage, injectMessage, updateMessage } from './message/message.ts';
import { readPending } from './message/pending.ts';
import {
  countDrained,
  countQueued,
  dropSent,
  markDelivered,
  queueItem,
  readDelivery,
  readSent,
  requireRepeat,
  saveSent,
  spillItems,
  stageItem,
} from './message/queue.ts';
import { listSuperseded, supersedeTail } from './message/supersede.ts';
import {
  appendProduced,
  claimProducer,
  closeLostProducers,
  findProducer,
  forgetLostTask,
  listLostTasks,
  renewAll,
  renewProducer,
  settleProducer,
  takeOverProducer,
} from './producer/producer.ts';
import { keepAborted } from './request/keep-request.ts';
import { listModelCalls, readRequest } from './request/read-request.ts';
import { removeRequests } from './request/remove-requests.ts';
import { beginStep } from './step/begin-step.ts';
import { readContext } from './step/read-context.ts';
import {
  commitStep,
  failStep,
  handOverStep,
  markGreeted,
  rejectAnswer,
  saveFlow,
} from './step/stored-step.ts';
import { appendChunk, emitWaiting, endModelCall, holdModel, startModelCall } from './step/stream.ts';
import { saveSummary } from './step/summary.ts';
import { getManifest, noteManifest, saveManifest } from './task/manifest.ts';
import { getTask, listTaskSteps, listTasks, readLoop } from './task/read-task.ts';
import { endTask, openTask } from './task/task.ts';
import { getSession, putSession } from './task/task-session.ts';
import {
  beginAct,
  emitTaskEvents,
  endAct,
  restTask,
  saveDecision,
  saveObservation,
  saveReadiness,
} from './task/task-step.ts';
import { listChanges } from './thread/changes.ts';
import { concealWords } from './thread/conceal-words.ts';
import { countThreads } from './thread/count-threads.ts';
import { listThreads, takeCensus } from './thread/list-threads.ts';
import { openThread, setTags } from './thread/open-thread.ts';
import { removeThread } from './thread/remove-thread.ts';
import { commitStatus, terminateThread } from './thread/status.ts';
import { createToken, findToken, listTokens, readSigningKey, revokeToken } from './token/token.ts';
import { clearStrike, readStrike, recordDeaths } from './tool/strike.ts';
import { openImmediate, openSubprompt, readSubprompt } from './tool/subprompt.ts';
import { beginTool, commitTool, settleLostTool } from './tool/tool.ts';
import { describeTraced, listUntraced, readUntraced, saveTrace } from './trace/trace.ts';
import type { CommandContext } from './transaction/context.ts';
import type { AwaitGrowth, EventListener } from './transaction/event-record.ts';
import { appendEvent, getLogs } from './transaction/log.ts';
import { getMessage, getMessages, getRecentMessages, getThread, readEvents } from './transaction/read.ts';
import { countBegunSteps } from './transaction/run-recovery.ts';
import { getValue, listValues, setValue } from './value/value.ts';
import { closeApprovals } from './wait/close-approvals.ts';
import { getWait, listForgottenWaits, listUnreadWaits, listWaits } from './wait/list-waits.ts';
import { readShown, showAbove } from './wait/shown-wait.ts';
import { answerWait, closeWait, openWait } from './wait/wait.ts';
import type { AnswerWait } from './wait/wait-record.ts';

/** @internal Commands that must not be given again if their outcome is unknown. */
export const ONCE = new Set<Command>();

/** @internal */
// biome-ignore lint/suspicious/noExplicitAny: each command has its own arguments.
export type Command = (context: CommandContext, ...values: any[]) => Promise<unknown>;

/** @internal */
export const COMMANDS = {
  ids: {
    find: findIds,
  },
  /** Threads: opened, brought to rest, ended. */
  threads: {
    census: takeCensus,
    open: openThread,
    get: getThread,
    list: listThreads,
    counts: countThreads,
    changes: listChanges,
    conceal: concealWords,
    commitStatus,
    terminate: terminateThread,
    setTags,
    remove: removeThread,
    fork: makeFork,
    markGreeted,
  },
  /** Items sent to a thread, until a step drains them. */
  queue: {
    claim: claimExecution,
    findClaims,
    readDelivery,
    markDelivered,
    spill: spillItems,
    stage: stageItem,
    requireRepeat,
    add: queueItem,
    count: countQueued,
    countDrained,
    readPending,
  },
  /** Executions of all threads; also the index of runs. */
  executions: {
    cancel: cancelExecution,
    get: getExecution,
    find: findExecution,
    at: getExecutionAt,
    findEnding,
    markEndHooksRun,
    list: listExecutions,
  },
  steps: {
    begin: beginStep,
    readContext,
    commit: commitStep,
    reject: rejectAnswer,
    fail: failStep,
    handOver: handOverStep,
    countBegun: countBegunSteps,
    saveFlow,
    saveSummary,
  },
  /** Steps within a call of another step. */
  subprompts: {
    open: openSubprompt,
    openImmediate,
    read: readSubprompt,
  },
  /** Model calls, what they were sent, and the text that they stream. A call is identified by step, attempt and call number. On a terminated thread nothing is written. */
  modelCalls: {
    start: startModelCall,
    // P6: streamed text is never sent twice.
    appendChunk: once(appendChunk),
    emitWaiting: once(emitWaiting),
    hold: once(holdModel),
    end: endModelCall,
    keepAborted,
    list: listModelCalls,
    readRequest,
    removeRequests,
  },
  toolCalls: {
    begin: beginTool,
    commit: commitTool,
    settleLost: settleLostTool,
  },
  /** Tasks, and the steps of their loops. Other data of a task is stored like that of a thread, under `task/` plus the task's id. */
  tasks: {
    open: openTask,
    saveManifest,
    noteManifest,
    getManifest,
    get: getTask,
    list: listTasks,
    listSteps: listTaskSteps,
    readLoop,
    saveReadiness,
    saveObservation,
    saveDecision,
    beginAct,
    endAct,
    rest: restTask,
    emit: once(emitTaskEvents),
    end: endTask,
    getSession,
    putSession,
  },
  /** Executions that code of one process produces, and the presence of that process. */
  producers: {
    claim: claimProducer,
    find: findProducer,
    takeOver: takeOverProducer,
    renew: renewProducer,
    append: appendProduced,
    settle: settleProducer,
    closeLost: closeLostProducers,
    renewAll,
    listLostTasks,
    forgetLostTask,
  },
  budgets: {
    read: readBudget,
    listWaiting,
    closeApprovals,
    emitVerdict: emitSpendingVerdict,
    payInvoked,
  },
  /** Calls that a policy has judged. */
  actions: {
    record: recordAction,
    end: endAction,
    renew: renewAction,
    closeLost: closeLostActions,
    findDecision,
    list: listActions,
    reconcile: reconcileAction,
  },
  /** Approvals that reach further than one call. */
  grants: { list: listGrants, get: getGrant, revoke: revokeGrant },
  messages: {
    list: getMessages,
    recent: getRecentMessages,
    get: getMessage,
    inject: injectMessage,
    update: updateMessage,
    delete: deleteMessage,
    supersede: supersedeTail,
    listSuperseded,
  },
  /** The log of each thread. */
  events: {
    read: readEvents,
    append: appendEvent,
    removeChunks,
    getLogs,
  },
  /** How far the logs were given out as spans. */
  traces: {
    read: readUntraced,
    describe: describeTraced,
    save: saveTrace,
    list: listUntraced,
  },
  /** The key-value store of each thread. */
  values: {
    get: getValue,
    set: setValue,
    list: listValues,
  },
  /** The file system of each thread. */
  files: {
    write: writeFile,
    stage: stageFile,
    mkdir: mkdirFile,
    rmdir: rmdirFile,
    unlink: unlinkFile,
    copy: copyFileFrom,
    stat: statFile,
    readdir: readdirFile,
    getStats: getFileStats,
    getThumbnail: getFileThumbnail,
    open: openFile,
    readChunk: readFileChunk,
    find: findFiles,
    grep: grepFiles,
  },
  /** Variables of threads, users and the instance. */
  env: {
    set: setEnv,
    unset: unsetEnv,
    list: listEnv,
    ofThread: listThreadEnv,
    read: readEnv,
    rotate: rotateEnv,
  },
  /** Who may use the HTTP API. */
  tokens: {
    create: createToken,
    find: findToken,
    list: listTokens,
    revoke: revokeToken,
    signingKey: readSigningKey,
  },
  /** Tool lists of MCP servers. */
  mcp: {
    list: listMcp,
    save: saveMcp,
  },
  /** Notes of memory hooks. */
  memory: {
    note: noteMemory,
    recall: recallMemory,
  },
  /** Content of starts, and reasons, that clients have stored before sending their ids. */
  sent: {
    save: saveSent,
    read: readSent,
    drop: dropSent,
  },
  /** Tasks of agents elsewhere that calls have begun. */
  a2a: {
    begin: beginA2aTask,
    note: noteA2aTask,
    listUnwanted: listUnwantedA2aTasks,
  },
  effects: {
    schedule: scheduleEffect,
    list: listEffects,
    expedite: expediteEffect,
    remove: removeEffect,
    next: nextEffect,
    begin: beginEffect,
    end: endEffect,
  },
  /** Waits: approvals, questions and other answers that people must give. */
  waits: {
    open: openWait,
    answer: (context: CommandContext, command: AnswerWait) => answerWait(context, command, answerVariables),
    close: closeWait,
    get: getWait,
    list: listWaits,
    listForgotten: listForgottenWaits,
    listUnread: listUnreadWaits,
    showAbove,
    readShown,
  },
  /** Author code that has brought worker processes down. */
  strikes: {
    recordDeaths,
    read: readStrike,
    clear: clearStrike,
  },
  /** Threads below one root, as a whole. For an unknown thread all reads return an empty list. */
  family: {
    read: readFamily,
    listDescendants,
    listForgotten,
  },
  /** A parent's registry, and messages between a parent and a child. Commands reject with `ThreadNotFound` for an unknown parent. */
  children: {
    create: createChild,
    judge: judgeChild,
    readTeam: readTeamStatus,
    send: sendToChild,
    sendToParent,
    readCall: readChildCall,
    releaseCall,
    list: listChildren,
    get: getChild,
    hasResumable,
    listUnstarted,
    setStatus: setChildStatus,
  },
  /** Reports of children's executions, until they are delivered to the parent. */
  reports: { readLastStep, listDue: listDueReports, deliver: deliverReport },
  /** Children that wait for variables. */
  variableRequests: { save: saveRequest, get: getRequest, list: listRequests, fulfil: fulfilRequest },
};

/** Marks a command that must not be given again if its outcome is unknown. */
function once<Given extends Command>(command: Given): Given {
  ONCE.add(command);
  return command;
}

/** What a command is to its callers: the store gives the context. */
type Bound<Given> = Given extends (context: CommandContext, ...values: infer Values) => infer Answer
  ? (...values: Values) => Answer
  : never;

/** @internal */
export type Commands = {
  readonly [Group in keyof typeof COMMANDS]: {
    [Name in keyof (typeof COMMANDS)[Group]]: Bound<(typeof COMMANDS)[Group][Name]>;
  };
};

/** An opened store. Its commands belong to this package, and change with it. */
export interface ThreadStore {
  /** The store's own id; part of each worker's identity. */
  readonly id: string;
  /** Engine and location of the store, for display. */
  readonly place: string;
  /** Aborted when the store can no longer be used, with a `StoreLost` or `StoreCorrupt` as its reason. Absent if that cannot happen. */
  readonly ended?: AbortSignal;
  /** Ends all connections. Commands that wait for a lost server reject with `StoreUnavailable`. */
  close(): Promise<void>;
}

/** @internal Left out of the declarations, which would bring all of the store along. */
export interface ThreadStore extends Omit<Commands, 'events' | 'threads'> {
  readonly threads: Commands['threads'] & {
    /**
     * Resolves once a thread of the store has changed since the call, whichever process changed it; also on the signal,
     * on the timeout, and when the store closes. It may resolve without a reason, so the caller lists the changes after
     * it has called this, and then waits. Never rejects. All waiting callers share one query of the database.
     */
    awaitChange(options?: AwaitGrowth): Promise<void>;
  };
  readonly events: Commands['events'] & {
    /**
     * Resolves once the log has an event above this number, whichever process wrote it; also on the signal, on the
     * timeout, and when the store closes. It may resolve without a reason, so the caller reads the log and checks.
     * Never rejects. All waiting callers share one query of the database.
     */
    awaitGrowth(threadId: string, after: number, options?: AwaitGrowth): Promise<void>;
    /**
     * Registers a listener. It receives the events of its kinds that threads of this store write through this object,
     * in order for each thread, and none that another process writes. Events of a child that are written in its
     * parent's transaction are left out. Returns a function that removes the listener.
     */
    listen(listener: EventListener): () => void;
  };
}
