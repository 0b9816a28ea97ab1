/**
 * `everthread chat`: a conversation in the terminal.
 * - A thread begins with the first message: leaving before it leaves nothing behind.
 * - Ctrl-C during an answer stops the execution; at the prompt it ends the chat. Ctrl-D and the end of piped input
 *   end it too.
 * - Waits of the thread are asked only if a person types here. Lines of a pipe are messages, and approve nothing.
 */
import { randomUUID } from 'node:crypto';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { AnswerPrinter, printWaits } from '../answer/answer-printer.ts';
import { threadExitCode, toAnswerJson, waitForAnswer } from '../answer/wait-for-answer.ts';
import { type AskPerson, askWaits } from '../chat/ask-waits.ts';
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
import { EXIT, reportFailure } from '../exit.ts';
import { dimNote, printJsonLine, printLine, tone } from '../output/output.ts';
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

/** One thread in a terminal: sends a line, shows the answer, and can stop it while it runs. */
interface ConversationOptions {
  readonly agent: string;
  /** Absent: the first line starts a new thread. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Number of the last event that was shown. */
  readonly after?: number;
  /** True if each answer is printed as a line of JSON instead of text. */
  readonly json: boolean;
  /** Asks a person what the thread waits for. If absent, the waits are printed with the commands that answer them. */
  readonly ask?: AskPerson;
}

export class Conversation {
  readonly #client: RuntimeClient;
  readonly #options: ConversationOptions;
  readonly #threadId: string;
  #hasThread: boolean;
  #lastSeq: number;
  #isTerminated = false;
  #stopping = false;

  constructor(client: RuntimeClient, options: ConversationOptions) {
    this.#client = client;
    this.#options = options;
    this.#threadId = options.threadId ?? newThreadId(options.agent);
    this.#hasThread = options.threadId !== undefined;
    this.#lastSeq = options.after ?? 0;
  }

  /** Id of the thread; for a new thread, the id that it will have. */
  get threadId(): string {
    return this.#threadId;
  }

  /** True if the thread exists. */
  get begun(): boolean {
    return this.#hasThread;
  }

  /** True if the thread is terminated and accepts no more messages. */
  get over(): boolean {
    return this.#isTerminated;
  }

  /** Returns the exit code that this answer would have in a script. */
  async say(content: string): Promise<number> {
    this.#stopping = false;
    const id = randomUUID();
    const threadId = await this.#send(id, content);
    const sink = new AnswerPrinter({ quiet: this.#options.json });
    let record = await this.#show(threadId, sink, id);
    while (record.status === 'waiting' && (await this.#answerWaits(threadId)))
      record = await this.#show(threadId, sink);
    this.#isTerminated = record.status === 'terminated';
    const waits = record.status === 'waiting' ? await this.#client.listWaits({ threadId }) : [];
    if (this.#options.json) printJsonLine(toAnswerJson(record, { sent: id, answer: sink.answer, waits }));
    else printWaits(waits);
    const exitCode = threadExitCode(record);
    if (exitCode === EXIT.failed)
      dimNote('The thread can continue: send another message, or the same one again.');
    return exitCode;
  }

  /** Shows the thread's work until it rests or waits again; `sent` must have arrived by then. */
  async #show(threadId: string, sink: AnswerPrinter, sent?: string): Promise<ThreadRecord> {
    const record = await waitForAnswer({
      client: this.#client,
      threadId,
      after: this.#lastSeq,
      sent,
      sink,
    });
    this.#lastSeq = record.lastSeq;
    return record;
  }

  /** True if the thread continues: every wait is answered, or the thread is being stopped. */
  async #answerWaits(threadId: string): Promise<boolean> {
    const { ask } = this.#options;
    return ask !== undefined && ((await askWaits(this.#client, threadId, ask)) || this.#stopping);
  }

  async stop(): Promise<void> {
    if (!this.#hasThread || this.#stopping) return;
    this.#stopping = true;
    await this.#client.stop(this.#threadId, 'stopped in the chat');
  }

  async #send(id: string, content: string): Promise<string> {
    const threadId = this.#threadId;
    if (this.#hasThread) {
      await this.#client.queueMessage(threadId, { id, content });
      return threadId;
    }
    const { agent, userId } = this.#options;
    await this.#client.startThread({ agent, threadId, userId, messages: [{ id, content }] });
    this.#hasThread = true;
    return threadId;
  }
}
