/**
 * `everthread chat`: a conversation in the terminal.
 * C1. A thread begins with the first message: leaving before it leaves nothing behind.
 * C2. Ctrl-C during an answer stops the execution; at the prompt it ends the chat. Ctrl-D and the end of piped input
 *     end it too.
 * C3. Waits of the thread are asked only if a person types here. Lines of a pipe are messages, and approve nothing.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { AskPerson } from '../chat/ask-waits.ts';
import { Conversation } from '../chat/conversation.ts';
import { LineReader } from '../chat/line-reader.ts';
import {
  type CommonOptions,
  command,
  idOption,
  option,
  optional,
  TASK_QUEUE,
  toggle,
  type Values,
} from '../command.ts';
import { commandName } from '../command-name.ts';
import { reportFailure } from '../exit.ts';
import { dimNote, printLine, tone } from '../output/output.ts';
import { messageText } from '../output/thread-text.ts';
import { requireAgent } from '../project/require-agent.ts';

const MAX_SHOWN_MESSAGES = 10;
const KEYS = 'Ctrl-C stops an answer, Ctrl-D leaves, /help shows help.';

const OPTIONS = {
  thread: idOption('thread', 'continue this thread'),
  user: option('<id>', 'id of the user that a new thread belongs to'),
  later: toggle('allow an agent that this project does not have'),
  ...TASK_QUEUE,
};

type ChatOptions = CommonOptions & Values<typeof OPTIONS>;

export const chat = command({
  envFile: 'announced',
  description:
    'Talks to an agent: each line (or pasted text) is a message, and the answer is shown as it arrives. Ctrl-C during an answer stops ' +
    'it, Ctrl-C or Ctrl-D at the prompt leaves. In a terminal it asks for approvals and answers: y approves. The thread is kept, and can be continued with --thread. With --json each answer is one line of JSON, ' +
    'like that of "threads send --wait".',
  arguments: { agent: optional('name of an agent of the project; not needed with --thread') },
  options: OPTIONS,
  async run({ agent, ...options }) {
    if (agent === undefined && options.thread === undefined) {
      throw new RuntimeError(
        'InvalidStart',
        'Name an agent to talk to, or a thread to continue: --thread ID.',
      );
    }
    if (agent !== undefined && options.thread === undefined) await requireAgent(agent, options);
    const { withClient } = await import('../connection/open-client.ts');
    return withClient({ ...options, createStore: options.thread === undefined }, async (client) => {
      const lines = new LineReader(`${tone('bold', 'you')} > `);
      try {
        const ask: AskPerson | undefined = lines.interactive ? (question) => lines.ask(question) : undefined;
        const conversation = await openConversation(client, agent, { ...options, ask });
        const exitCode = await runConversation(conversation, lines);
        printGoodbye(conversation, options);
        // A person has seen the error; a script receives only the exit code.
        return lines.interactive ? 0 : exitCode;
      } finally {
        lines.close();
      }
    });
  },
});

async function openConversation(
  client: RuntimeClient,
  agent: string | undefined,
  options: ChatOptions & { readonly ask: AskPerson | undefined },
): Promise<Conversation> {
  const { thread: threadId, user: userId, json, ask } = options;
  const asked = ask ? { ask } : {};
  if (threadId === undefined) {
    const conversation = new Conversation(client, {
      agent: agent as string,
      userId,
      json: json === true,
      ...asked,
    });
    dimNote(`Talking to ${agent} in thread ${conversation.threadId}. ${KEYS}`);
    return conversation;
  }
  const thread = await client.getThread(threadId);
  if (thread.terminatedAt !== null) {
    throw new RuntimeError(
      'ThreadTerminated',
      `Thread "${threadId}" is terminated: "${commandName()} threads show ${threadId}" shows it.`,
    );
  }
  if (agent !== undefined && agent !== thread.agent) {
    throw new RuntimeError(
      'InvalidStart',
      `Thread "${threadId}" belongs to the agent "${thread.agent}", not to "${agent}".`,
    );
  }
  dimNote(`Continuing thread ${threadId} of ${thread.agent}. ${KEYS}`);
  const { messages } = await client.getMessages(threadId, { limit: MAX_SHOWN_MESSAGES });
  if (!json) for (const message of messages) printLine(messageText(message));
  return new Conversation(client, {
    agent: thread.agent,
    threadId,
    after: thread.lastSeq,
    json: json === true,
    ...asked,
  });
}

/** Exit code of the last answer, so that scripts notice failures in piped lines. */
async function runConversation(conversation: Conversation, lines: LineReader): Promise<number> {
  let exitCode = 0;
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    const text = line.trim();
    if (text === '') continue;
    if (text === '/exit' || text === '/quit') break;
    if (text === '/help') {
      dimNote(helpText(conversation));
      continue;
    }
    lines.onInterrupt = () => void conversation.stop().catch((error) => reportFailure(error));
    try {
      exitCode = await conversation.say(text);
    } finally {
      lines.onInterrupt = undefined;
    }
    if (conversation.over) break;
  }
  return exitCode;
}

function helpText({ threadId, begun }: Conversation): string {
  return [
    'Each line is a message; a pasted text of several lines is one message.',
    'Approvals and questions of the thread are asked at once: y approves, anything else refuses.',
    'Ctrl-C during an answer stops it. Ctrl-D, /exit or /quit leaves; the thread is kept.',
    `This is thread ${threadId}${begun ? '' : ', which begins with your first message'}.`,
  ].join('\n');
}

function printGoodbye({ threadId, begun, over }: Conversation, { json, project }: ChatOptions): void {
  if (json || !begun || over) return;
  const place = project === process.cwd() ? '' : ` --project ${project}`;
  dimNote(`\nThread ${threadId}. Continue with: ${commandName()} chat --thread ${threadId}${place}`);
}
