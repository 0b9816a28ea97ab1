/** `everthread threads regenerate` and `threads edit`: another answer in place of the one that a thread has. */
import type { Supersede } from '../../client/supersede.ts';
import {
  argument,
  type CommonOptions,
  command,
  option,
  type Result,
  TASK_QUEUE,
  THREAD,
  toggle,
  type Values,
  WAIT,
} from '../command.ts';
import { commandName } from '../command-name.ts';
import { ATTACH, readAttachments, readText } from '../input/read-message.ts';
import { showWork } from './thread-send.ts';

const OPTIONS = {
  stop: toggle('stop first what the thread does, in place of being refused'),
  keep: toggle('let the effects and subagents of the superseded part go on, in place of ending them'),
  acknowledge: toggle('go on although the outcome of an action is unknown; the model is told'),
  ...WAIT,
  ...TASK_QUEUE,
};

const STAYS =
  'What followed is superseded: only "GET /v1/threads/THREAD/messages?superseded=true" lists it. Nothing is undone: values, files and money spent stay. ' +
  'With --json: { threadId, messageId, seq, messages, ended }.';

export const threadRegenerate = command({
  description: `Has a message of the user answered again. ${STAYS}`,
  arguments: { thread: THREAD },
  options: {
    message: option('<id>', 'the message of the user, or an answer to it (default: the newest of the user)'),
    ...OPTIONS,
  },
  run: ({ thread, message: messageId, ...options }) => supersede(thread, options, { messageId }),
});

export const threadEdit = command({
  description: `Replaces the text and the files of a message of the user, and has it answered again. ${STAYS}`,
  arguments: {
    thread: THREAD,
    message: argument('id of the message'),
    text: argument('the new text; - reads it from standard input'),
  },
  options: { ...ATTACH, ...OPTIONS },
  async run({ thread, message: messageId, text, attach, ...options }) {
    const message = { content: await readText(text), attachments: readAttachments(attach) };
    return supersede(thread, options, { messageId, message });
  },
});

async function supersede(
  threadId: string,
  { stop, keep, acknowledge, ...options }: CommonOptions & Values<typeof OPTIONS>,
  request: Supersede,
): Result {
  const { withClient } = await import('../connection/open-client.ts');
  return withClient(options, async (client) => {
    const asked = {
      ...request,
      cancel: stop,
      acknowledge,
      tail: keep ? ('keep' as const) : ('end' as const),
    };
    const superseded = await client.supersede(threadId, asked);
    const { messageId, seq, messages } = superseded;
    if (options.wait) return showWork({ client, threadId, after: seq, sent: messageId, ...options });
    return {
      json: { threadId, ...superseded },
      text: messageId,
      note: `Superseded ${messages} ${messages === 1 ? 'message' : 'messages'} of thread ${threadId}.`,
      hint: `"${commandName()} threads tail ${threadId} --after ${seq}" shows the answer.`,
    };
  });
}
