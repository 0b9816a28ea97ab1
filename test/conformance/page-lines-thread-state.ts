/**
 * The page of ThreadState of Standard Agents: how what it leaves open is read here, and where the runtime does something
 * else. Members that are not named do what the page says.
 */
import { differs, type PageLine, reads } from './page-line.ts';

export const THREAD_STATE_LINES: readonly PageLine[] = [
  reads(
    'Identity: createdAt, terminated',
    'microseconds, as for messages and effects; times of files are milliseconds (definitions §22.10)',
    'threadstate identity',
  ),
  reads(
    'Messaging: getMessages()',
    'the newest 100, oldest first, without silent ones; what is queued is listed as pending',
    'definitions 22.11',
    'threadstate queue',
  ),
  reads(
    'Messaging: injectMessage()',
    'stores a message of a user, an assistant or the system at once, and begins nothing. The text does not say; an answer is asked for with `queueMessage`',
    'threadstate messaging',
  ),
  reads(
    'Messaging: updateMessage()',
    'metadata is merged, and a key that is set to null is removed. A message that is still queued is not found, since it is no part of the history yet',
    'threadstate messaging',
  ),
  reads(
    'Messaging: deleteMessage() (definitions §14.2)',
    'also takes a queued message out of line; refused while calls of the message run',
    'definitions 14.2',
  ),
  reads(
    'Subagent hierarchy: getChildThread(), getParentThread()',
    'direct children, whether resumable or not, and the parent whose registry lists the thread. A relative is shown at rest even while it runs, because its execution belongs to its own code; its values are not accessible',
    'threadstate hierarchy',
  ),
  reads(
    'Subagent hierarchy: children; Lifecycle: terminated',
    'as of the moment in which the code began, since members that are no functions cannot wait for the store; its own `terminate()` shows at once',
    'definitions 14.1',
  ),
  reads(
    'Lifecycle: terminate()',
    'of a relative as well, with all below it; what follows in the terminated thread is refused (runtime §10)',
    'threadstate lifecycle',
  ),
  reads(
    'Arguments: read-only invocation or creation arguments',
    "frozen at every depth. In a sub-prompt the call's arguments win, and those of the thread fill the rest; those of a handoff are in `context` for the execution, since the thread keeps the ones it was created with",
    'definitions 12.6',
    'definitions 12.7',
  ),
  reads(
    'Arguments: available to prompt variable interpolation',
    '`{{key}}` in any text of a prompt, an argument before a value of `context` of the same name; a key without a value stays as written',
    'definitions 22.15',
  ),
  reads(
    'Context: mutable scratch of the current execution',
    'what structured clone takes, 256 KiB in all, stored with each result, so that it survives a lost worker. The rest is dropped and noted in the log: what code leaves there never changes the outcome of a call. Outside of an execution it is `{}` and not kept',
    'threadstate context',
  ),
  reads(
    'Resource loading: loadModel(), loadPrompt(), loadAgent()',
    'the definition as its author wrote it, with defaults, frozen; a name that is not defined rejects with the names that are',
    'threadstate loading',
  ),
  reads(
    'Environment: env()',
    "the `env` of a tool's entry counts between agent and prompt, inside that tool alone. Nothing found rejects, the empty text is a value, and the environment of the process is never read",
    'definitions 16',
  ),
  reads(
    'Environment: envType()',
    'a stored value has its own type, one of a definition the declared type, else secret; where declarations disagree, secret, because a leak cannot be undone',
    'definitions 16',
  ),
  differs(
    'Environment: setEnv() propagates to active descendant threads',
    'not to a descendant whose agent declares the variable `scoped`, nor to those below it, which inherit from it. A terminated descendant is skipped, the living below it are not. A value that a descendant has set itself is replaced',
  ),
  reads(
    'Environment: setEnv() without a type preserves the existing type',
    'each descendant keeps its own, but a value that is secret here is a text nowhere below. An explicit type holds in all of them',
    'definitions 16',
  ),
  reads(
    'Environment: secret values should be redacted',
    'they become `[secret NAME]`: every secret of the thread in results and errors, those that the code has read in messages, events and arguments. Values and the content of files stay as written, since they are the author’s data and not shown by themselves',
    'definitions 16',
  ),
  reads(
    'Utilities: queueTool()',
    'any tool, prompt or agent of the project, whatever the prompt lists, unless the calling tool declares `uses`: code is trusted more than a model. A client may queue only what the active prompt offers',
    'definitions 14.6',
  ),
  reads(
    'Utilities: invokeTool()',
    'tools only: a prompt, an agent or a task takes longer than code can wait, and is an error result that says to queue it. It leaves a log entry and no message, and hooks after a call do not run',
    'threadstate tools',
  ),
  reads(
    'Utilities: scheduleEffect()',
    'a delay of a year, 10,000 pending effects and 256 KiB of arguments at most',
    'definitions 10',
  ),
  reads(
    'Utilities: file APIs',
    'a file of 100 MiB, 1 GiB and 10,000 entries of a thread at most; paths with `..` are refused, and missing directories are made',
    'definitions 18',
  ),
  differs(
    'Code execution: a Cloudflare Dynamic Worker, the binding AGENT_BUILDER_CODE_LOADER',
    'an isolate in a supervised process of its own. If its engine is not installed, the result is a `link_error` that names the package, as the page has it for a missing binding',
  ),
  differs(
    'Code execution: code is loaded by stable content ID when possible',
    'each run has a fresh isolate and evaluates its sources anew, as runtime §13.1 demands',
  ),
  differs(
    'Code execution: memoryLimitBytes cannot lower the ceiling, memoryUsedBytes is not reported',
    'the limit is enforced and the use is reported: the engine can do both',
  ),
  reads(
    'ThreadState in tools, hooks and thread endpoints',
    'and in effects. `act`, `ask`, `options`, `idempotencyKey` and others are additions: [threadstate.md](../threadstate.md) lists all members',
    'threadstate utilities',
  ),
  reads(
    'Queue semantics: a queued entry triggers execution',
    'with the exceptions above: messages to a person, and threads that a person has stopped (§2, §9)',
    'threadstate queue',
  ),
  reads(
    'Notes: execution may be null',
    'in effects, endpoints, `after_thread_created`, `on_agent_end`, and for relatives',
    'threadstate execution',
  ),
];
