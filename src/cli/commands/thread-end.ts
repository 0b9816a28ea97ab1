/**
 * `everthread threads stop`, `continue`, `cancel`, `terminate`: durable requests that the thread's worker carries out;
 * and `delete`, which needs no worker.
 */
import { idOption, option, TASK_QUEUE, THREAD } from '../command.ts';
import { clientCommand, findThread } from '../connection/client-command.ts';

const REASON = { reason: option('<text>', 'why; stored with it'), ...TASK_QUEUE };

export const threadStop = clientCommand({
  description:
    'Ends the current execution. The thread is kept; queued items wait for the next user message. ' +
    'With --json: { threadId, requested, running }; running is true if there was anything to stop.',
  arguments: { thread: THREAD },
  options: REASON,
  async act(client, { thread: threadId, reason }) {
    // The stop is sent whatever the status was: something may begin in between.
    const before = await findThread(client, threadId);
    await client.stop(threadId, reason);
    const running = before === undefined || before.status === 'running' || before.status === 'waiting';
    return {
      json: { threadId, requested: 'stop', running },
      note: running ? `Asked thread ${threadId} to stop.` : `Nothing runs in thread ${threadId}.`,
    };
  },
});

export const threadContinue = clientCommand({
  description:
    'Lets a stopped thread continue with what had been queued. If nothing is queued, a new execution begins and continues from ' +
    'the history, as after a failure of a model. A running thread is left alone. With --json: { threadId, requested }.',
  arguments: { thread: THREAD },
  options: TASK_QUEUE,
  async act(client, { thread: threadId }) {
    await client.continue(threadId);
    return { json: { threadId, requested: 'continue' }, note: `Asked thread ${threadId} to continue.` };
  },
});

export const threadCancel = clientCommand({
  description:
    'Cancels what a thread is doing now: its model, tools, code and subagents are aborted, and their finished results are kept. ' +
    'Unlike after a stop, what others have queued is then processed. With --json: the execution.',
  arguments: { thread: THREAD },
  options: {
    execution: idOption('execution', 'only if it is this one (default: the one that runs)'),
    by: option('<name>', 'who asks'),
    ...REASON,
  },
  async act(client, { thread: threadId, execution: executionId, reason, by }) {
    const canceled = await client.cancelExecution(threadId, { executionId, reason, by });
    return { json: canceled, note: `Asked thread ${threadId} to cancel execution ${canceled.id}.` };
  },
});

export const threadTerminate = clientCommand({
  description: 'Ends a thread permanently: nothing can be sent to it any more, everything stays readable.',
  arguments: { thread: THREAD },
  options: REASON,
  async act(client, { thread: threadId, reason }) {
    await client.terminate(threadId, reason);
    return {
      json: { threadId, requested: 'terminate' },
      note: `Asked thread ${threadId} to end permanently.`,
    };
  },
});

export const threadDelete = clientCommand({
  description:
    'Ends a thread and all its descendants, and deletes their messages, logs, files, values, variables and workflow histories. ' +
    'This cannot be undone. With --json: { deleted, remaining }; remaining lists histories that the server keeps.',
  arguments: { thread: THREAD },
  options: TASK_QUEUE,
  async act(client, { thread }) {
    const { deleted, remaining } = await client.deleteThread(thread);
    const names = `${deleted.length === 1 ? 'thread' : `${deleted.length} threads:`} ${deleted.join(', ')}`;
    const kept = remaining.map(({ workflowId, runId, until }) => {
      const end = until === null ? 'its retention after its end' : new Date(until).toISOString();
      return `The Temporal server keeps the history of run ${runId} of ${workflowId} until ${end}.`;
    });
    return { json: { deleted, remaining }, note: [`Deleted ${names}.`, ...kept].join('\n') };
  },
});
