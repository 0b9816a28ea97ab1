/** `everthread threads send`, `threads tool`, `threads start` and `threads fork`. */

import { randomUUID } from 'node:crypto';
import type { CalledTool } from '../../client/call-tool.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isExecutionId, itemIdOf } from '../../core/thread/execution-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { AnswerPrinter, printWaits } from '../answer/answer-printer.ts';
import type { showAnswer } from '../answer/wait-for-answer.ts';
import {
  argument,
  type CommonOptions,
  command,
  option,
  optional,
  parameter,
  parseObject,
  parseWhole,
  type Result,
  TASK_QUEUE,
  THREAD,
  toggle,
  type Values,
  WAIT,
} from '../command.ts';
import { commandName } from '../command-name.ts';
import { findThread } from '../connection/client-command.ts';
import { EXIT, printFailure } from '../exit.ts';
import { ATTACH, readAttachments, readText } from '../input/read-message.ts';
import { dimNote, printJson, printLine } from '../output/output.ts';
import { requireAgent } from '../project/require-agent.ts';

const EXECUTION = option(
  '<id>',
  'id of the execution that it begins, in a thread at rest with an empty queue; the same request again attaches to it, another one is refused',
);

const CONTEXT = option(
  '<json>',
  'settings of the execution that it begins, a JSON object: docs/governance.md',
  parseObject,
);

export const threadSend = command({
  description:
    "Queues a message and prints the message's id. From then on it is durable and in order with all others, also while the " +
    'thread is busy and while no worker runs.',
  arguments: {
    thread: THREAD,
    text: optional('the message; - reads it from standard input; not needed with --attach'),
  },
  options: {
    id: option(
      '<message-id>',
      'id of the message: sent twice under one id, it is stored once (default: a new one)',
    ),
    execution: EXECUTION,
    role: option(
      '<role>',
      'user: the agent answers; assistant: recorded as a message of the agent',
      ['user', 'assistant'] as const,
      'user',
    ),
    context: CONTEXT,
    silent: toggle('the model sees it, ordinary lists of messages do not show it'),
    ...ATTACH,
    ...WAIT,
    ...TASK_QUEUE,
  },
  async run({ thread, text, ...options }) {
    const { execution: executionId, id = newId(executionId), role, silent, context } = options;
    const attachments = readAttachments(options.attach);
    if (text === undefined && attachments.length === 0)
      throw new RuntimeError('InvalidMessage', 'Give a text to send, or files with --attach.');
    const content = text === undefined ? '' : await readText(text);
    // An assistant message gets no answer: only rest can be awaited.
    const sent = role === 'user' ? id : undefined;
    return sendAndWait(thread, options, sent, (client) =>
      client.queueMessage(thread, { id, content, role, silent, attachments, context, executionId }),
    );
  },
});

export const threadTool = command({
  description:
    'Queues a tool of the active prompt as a normal call; the model then sees its result and answers. With --unanswered the model is not ' +
    'called: with --wait the result is printed, or what the call waits for.',
  arguments: {
    thread: THREAD,
    name: argument('name of the tool'),
    arguments: parameter<Record<string, unknown> | undefined>({
      help: `its arguments, a JSON object: '{"city":"Paris"}'`,
      parse: parseObject,
    }),
  },
  options: {
    context: CONTEXT,
    id: option('<item-id>', 'queued twice under one id, it runs once (default: a new one)'),
    unanswered: toggle('do not call the model with the result'),
    execution: EXECUTION,
    ...WAIT,
    ...TASK_QUEUE,
  },
  async run({ thread, name, arguments: given, ...options }) {
    const { execution: executionId, id = newId(executionId), context, unanswered, wait } = options;
    const tool = { id, name, arguments: given, context, executionId };
    if (unanswered && wait) {
      const { withClient } = await import('../connection/open-client.ts');
      return withClient(options, async (client) => {
        const { timeout = Number.POSITIVE_INFINITY } = options;
        const called = await client.callTool(thread, tool, { timeoutMs: timeout * 1000 });
        if (options.json) printJson({ threadId: thread, ...called });
        else printCall(called);
        return called.status === 'error' ? EXIT.failed : EXIT.done;
      });
    }
    return sendAndWait(thread, options, id, (client) => client.queueTool(thread, { ...tool, unanswered }));
  },
});

function printCall({ status, content, code = 'Failed', waits = [] }: CalledTool): void {
  if (status === 'success') printLine(escapeControls(content ?? ''));
  else if (status === 'error') printFailure(code, content ?? 'The call has no result.');
  else printWaits(waits);
}

/** Returns an id derived from the execution's: the same message under the same execution is queued once. */
function newId(executionId: string | undefined): string {
  return executionId === undefined || !isExecutionId(executionId) ? randomUUID() : itemIdOf(executionId);
}

async function sendAndWait(
  threadId: string,
  options: CommonOptions & Values<typeof WAIT & typeof TASK_QUEUE>,
  sent: string | undefined,
  send: (client: RuntimeClient) => Promise<{ id: string }>,
): Result {
  const { withClient } = await import('../connection/open-client.ts');
  return withClient(options, async (client) => {
    const after = (await findThread(client, threadId))?.lastSeq ?? 0;
    const { id } = await send(client);
    if (options.wait) return showWork({ client, threadId, after, sent, ...options });
    const hint = `Queued. "${commandName()} threads tail ${threadId}" shows the result.`;
    return { json: { threadId, id }, text: id, hint };
  });
}

/** `everthread threads start`: a new thread, optionally with its first message. */
export const threadStart = command({
  description:
    "Starts a thread of an agent and prints the thread's id. The thread is durable from then on; it works as soon as " +
    'a worker ("everthread dev" or "everthread worker") serves its task queue.',
  arguments: {
    agent: argument('name of an agent of the project'),
    text: optional('first message; - reads it from standard input'),
  },
  options: {
    id: option('<id>', 'id of the thread: letters, digits and . _ : - (default: an unguessable one)'),
    user: option('<id>', 'id of the user that the thread belongs to'),
    arguments: option('<json>', "the thread's arguments, a JSON object: {{key}} in prompts", parseObject),
    context: option('<json>', 'settings of its executions, a JSON object: docs/governance.md', parseObject),
    later: toggle(
      'allow an agent that this project does not have: the thread waits for a worker that has it',
    ),
    ...ATTACH,
    ...WAIT,
    ...TASK_QUEUE,
  },
  async run({ agent, text: given, ...options }) {
    const attachments = readAttachments(options.attach);
    const content = given === undefined ? '' : await readText(given);
    const says = given !== undefined || attachments.length > 0;
    await requireAgent(agent, options);
    const { withClient } = await import('../connection/open-client.ts');
    return withClient({ ...options, createStore: true }, async (client) => {
      const id = randomUUID();
      const { threadId } = await client.startThread({
        agent,
        threadId: options.id,
        userId: options.user,
        arguments: options.arguments,
        context: options.context,
        messages: says ? [{ id, content, attachments }] : [],
      });
      const sent = says ? id : undefined;
      if (options.wait) {
        dimNote(`thread ${threadId}`);
        return showWork({ client, threadId, after: 0, sent, ...options });
      }
      const hint = `"${commandName()} threads tail ${threadId}" shows what it does.`;
      return { json: { threadId, id: sent }, text: threadId, hint };
    });
  },
});

/** `everthread threads fork`. */
export const threadFork = command({
  description:
    "Makes a new thread with the messages of another one up to a settled step, and prints the new thread's id. No call is run again. " +
    'Values, files and variables are copied if the step is the newest one, else only with --state current.',
  arguments: { thread: THREAD },
  options: {
    at: option(
      '<step>',
      'the step to fork after; if it has not settled, the one before (default: the newest)',
      parseWhole,
    ),
    id: option(
      '<id>',
      'id of the new thread: the same fork again changes nothing (default: an unguessable one)',
    ),
    agent: option('<name>', 'another agent of the project'),
    message: option('<text>', 'the first message; - reads it from standard input'),
    state: option('<state>', 'copy values, files and variables as they are now, not as they were', [
      'current',
    ] as const),
    ...WAIT,
    ...TASK_QUEUE,
  },
  async run({ thread, at, id: threadId, agent, message: text, state, ...options }) {
    if (agent !== undefined) await requireAgent(agent, options);
    const content = text === undefined ? undefined : await readText(text);
    const { withClient } = await import('../connection/open-client.ts');
    return withClient(options, async (client) => {
      // Without an id of its own: the same fork again sends the same message.
      const message = content === undefined ? undefined : { content };
      const forked = await client.forkThread(thread, { at, threadId, agent, state, message });
      if (forked.asked !== undefined)
        dimNote(`step ${forked.asked} has not settled, or is superseded: forked after step ${forked.at}`);
      const { threadId: id, messageId } = forked;
      if (options.wait && messageId !== undefined) {
        dimNote(`thread ${id}`);
        return showWork({ client, threadId: id, after: 1, sent: messageId, ...options });
      }
      const hint = `${forked.messages} messages of ${thread} up to step ${forked.at}.`;
      return { json: { ...forked }, text: id, hint };
    });
  },
});

export async function showWork(wait: Omit<Parameters<typeof showAnswer>[0], 'sink'>): Promise<number> {
  const answer = await import('../answer/wait-for-answer.ts');
  return answer.showAnswer({ ...wait, sink: new AnswerPrinter({ quiet: wait.json === true }) });
}
