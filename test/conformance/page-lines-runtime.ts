/**
 * The runtime chapter of the Standard Agents spec, section by section: what it leaves open and how it is read here, and
 * where the runtime does something else. Sections that are not named are followed as they stand.
 */
import { differs, type PageLine, reads } from './page-line.ts';
import { RUNTIME_LINES_FROM_8 } from './page-lines-runtime-8.ts';

export const RUNTIME_LINES: readonly PageLine[] = [
  reads(
    '§1: a thread is created, and grows',
    'a thread can also be made as a fork of another one, with its messages up to a step: an addition, [forks.md](../forks.md)',
    'runtime 1',
  ),
  reads(
    '§1, §3: tool results are persisted before the runtime continues',
    'each result is stored before the next call of the step begins, so a lost worker costs at most the call that it was running',
    'runtime 1',
  ),
  differs(
    '§2: a message that is injected into a thread begins an execution',
    'messages that are sent or queued do; `state.injectMessage` stores one and begins nothing, so that code can add to a history without asking for an answer',
    'runtime 2',
  ),
  differs(
    '§2, §9: a queued message begins an execution if the thread is idle',
    'with one AI side only messages with the role `user` ask for an answer: one with the role `assistant` is addressed to the person: it is stored, and no model is asked',
    'runtime 2',
  ),
  reads(
    '§2: a scheduled effect begins an execution',
    'its handler runs outside of any execution; one begins only if the handler queues something, since code decides whether there is anything to answer',
    'runtime 2a',
    'definitions 10',
  ),
  reads(
    '§2: a queued tool begins an execution',
    'a model answers its result, unless the client that queued it has asked for no answer',
  ),
  reads(
    '§3: queued tools are drained for a step',
    'they are a step of their own before the model is asked, with the hooks, stop rules and limits of any step',
  ),
  reads(
    '§3: what happens to a call whose worker is lost',
    'it runs at most once: its result says that the outcome is unknown, unless the tool is declared `idempotent` or `quick` and runs again; a payment that is made twice is worse than one that a person has to look up',
  ),
  reads(
    '§4: filtered conversation history',
    'what the prompt includes (`includeChat`, `includePastTools`), fitted to the window of the model: the oldest messages are left out, a text that no window could hold is cut in the middle, and a summary replaces messages if the agent has that guard; stored messages stay whole',
    'runtime 4',
  ),
  reads(
    '§4: the history as it is sent',
    'calls and results are paired after all hooks; a call without a result gets a failed one, since a provider would refuse the thread for ever otherwise',
    'definitions 12.2',
  ),
  reads(
    '§4: tool calls of the opposite side are not directly visible',
    'they are left out with their results, and so is a message that made calls only; a request that would begin with an assistant message begins with the user message "Begin."',
    'runtime 4a',
  ),
  reads(
    '§4: attachments remain multimodal where the model supports it',
    'images do, those of the newest `recentImageThreshold` messages of users and tools, up to 20 MiB; every other file is a line with its path, since providers accept few types',
    'definitions 15.5',
  ),
  reads(
    '§4: what providers want back of an answer (signatures, encrypted reasoning)',
    'it returns to the same provider and model only, is shown by no interface, and is dropped as a whole once the answer has been changed, cut or redacted',
  ),
  reads(
    '§5.1: calls are executed in the returned order',
    'the first 128 of an answer are; each further one gets an error result that says so, since an answer is untrusted input',
  ),
  reads(
    '§5.1: calls that run side by side',
    'an extension: calls run one after another unless the project asks otherwise, with `parallel: true` of a tool that is idempotent and only reads, or of the entry of a blocking subagent. Neighbouring calls of such then run at once, at most 8, and their results are stored in the returned order',
    'runtime 5.1a',
  ),
  differs(
    '§5.2: tool errors are persisted as tool results',
    'unless a hook removes the call with `null` (definitions §9): then no result is stored, and the message has the call no longer',
  ),
  reads(
    '§5.2: tool errors do not end the loop',
    'they do not by themselves; an agent can ask for it, with a policy (`onDenied`), a guard or a budget',
  ),
  reads(
    '§5.2: what a tool error is',
    'a throw, and a result with the status `error`. Whatever else a tool returns is a success and is written as text; above 4 MiB that is cut in the middle and kept whole as a file. Its work is done, and a model that read of a failure would do it again',
  ),
  reads(
    '§5.2: tools that never answer',
    'a call gets an error result after its `timeoutMs`, 30 minutes by default, since a loop that waits for ever is no loop',
  ),
  reads(
    '§5.3: a handoff to an ai_human agent',
    'it is refused in a thread of two AI sides, and to the agent that has the thread already: there is nobody to take over from',
    'definitions 12.7',
  ),
  reads(
    '§6: sessionStop and sessionFail come first',
    '`sessionFail` before `sessionStop`; each counts only if its call succeeded, and a failed one suppresses the stop tool and the stop on a response in its step, so that the model can correct it',
    'definitions 22.5',
    'definitions 22.44',
  ),
  reads(
    '§6: requests of code',
    'a hook that refuses the request, `execution.stop()` and `forceTurn()` rank after the session tools and before `stopTool`',
    'definitions 12.5',
  ),
  reads(
    '§6: stopTool',
    'it stops only if its call succeeded (definitions §22.6); with neither `stopTool` nor `stopOnResponse`, two AI sides alternate after each step',
    'definitions 22.6',
  ),
  reads(
    '§6: stopOnResponse',
    'an answer with neither text nor calls ends the turn too (`empty_response`): the same request would be sent again',
    'definitions 12.5',
  ),
  reads(
    '§6: safety limits',
    '`maxSteps` ends the execution and counts one side, `maxSessionTurns` counts completed turns of both sides. The hard caps: 250 steps, or a larger `maxSteps`; 2,000 model calls of a family. Work that the thread queues for itself continues the count',
    'runtime 6.4',
    'definitions 22.17',
    'definitions 22.18',
  ),
  reads(
    '§7.1: the registry holds resumable instances',
    'it holds every child; `state.children` lists the resumable ones, terminated ones included, as of the moment in which the code began',
    'threadstate hierarchy',
  ),
  reads(
    '§7.1: how many children there may be',
    '1,000 living ones of a thread, and 16 generations; the call that would exceed it gets an error result',
  ),
  reads(
    '§7.2: with explicit communication nothing is queued automatically',
    'a call that waits still gets its result, since its parent would wait for ever (definitions §22.23); the status that such a child has set stays when its execution ends with a result',
    'runtime 7.2',
  ),
  reads(
    '§7.2: maxInstances',
    '`subagent_create` stays on offer, and its error lists the living instances',
    'runtime 7.2',
  ),
  reads(
    '§7.2, §7.4: the name of a child',
    'white space is collapsed, and it is cut at 120 characters; a blank one is refused',
    'runtime 7.4',
  ),
  reads(
    '§7.3: optional',
    'the flag is resolved as for a tool of the prompt, whatever its type, when the subagent is offered and again when it is called; a value that the worker cannot decrypt enables nothing',
    'runtime 7.3',
  ),
  reads(
    '§7.3: when a prompt becomes active',
    'for each agent that gets the thread, by each side before its first step, and by a sub-prompt at each call. An immediate entry that is not enabled at that moment makes no child later',
    'runtime 7.3',
  ),
  reads(
    '§7.4: the bootstrap model sees nameEnv and descriptionEnv',
    "their values, whatever their type, since the author has named them; they are sent to the prompt's own model. If it fails, they become the name and the message themselves",
    'runtime 7.4',
  ),
  reads(
    '§7.4: copied child env is never in prompt text',
    "that is every variable from the parent's thread, not only `scopedEnv`, in the child and below it: an `env` part shows `[withheld NAME]`. A variable that is set for the child itself is shown, those of the user and the instance are no copies, and an entry of the child that names it in turn shows it to that bootstrap model. What a tool returns is its author's: only secrets are removed from it",
    'runtime 7.4',
  ),
  reads(
    '§7.5: the completion flow',
    "the request's path is served with and without `/api`. All missing values are provided at once, once, for the child alone; its report arrives as a message even if the call was to wait, since the call has ended with the bootstrap error",
    'runtime 7.5',
  ),
  reads(
    '§7.5: which scoped variables are missing',
    'those for which neither the definitions, nor the user, nor the instance, nor `scopedEnv` have a value; a value of the parent’s thread does not count, since the variable is scoped',
    'runtime 7.5',
  ),
  ...RUNTIME_LINES_FROM_8,
];
