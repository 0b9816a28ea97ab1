/** The surfaces of ThreadState, and what the definitions say of hooks, effects, endpoints, sub-prompts, attachments. */
import type { Requirement } from './requirement.ts';

type Row = readonly [id: string, level: Requirement['level'], text: string];

const ROWS: readonly Row[] = [
  [
    'definitions 9',
    'MUST',
    'Twelve hooks fire at their points, in list order, each with the result of the one before.',
  ],
  [
    'definitions 10',
    'MUST',
    'Effects are scheduled with their arguments, fire once due and never before, are listed and removed while they wait, and end with their thread.',
  ],
  [
    'definitions 11',
    'MUST',
    'Endpoints answer by file, method and path: static before dynamic before catch-all, with the thread at hand.',
  ],
  [
    'definitions 12.6',
    'MUST',
    'A prompt as a tool is one step with its calls; its result is composed as its entry says.',
  ],
  ['definitions 12.7', 'MUST', 'A call of an ai_human agent hands the thread over after the step.'],
  [
    'definitions 12.2',
    'MUST',
    'A request is assembled in order, and calls and results are paired whatever its hooks return.',
  ],
  [
    'definitions 12.4',
    'MUST',
    'Around a call: after_tool_call_*, before_store_tool_result, files, before_create_message, insert, after_create_message; refused calls are failures.',
  ],
  [
    'definitions 6.1',
    'SHOULD',
    'Reasoning is kept, sent again to its own prompt, and left out where excluded.',
  ],
  ['definitions 6.3', 'MUST', "Tools of the model's provider are sent as such."],
  [
    'definitions 8',
    'MUST',
    'A tool that the provider runs never runs here; arguments pass its schema; a result keeps what it says of its error.',
  ],
  [
    'definitions 14.6',
    'MUST',
    'queueTool runs tools, prompts and handoffs as normal calls; a signal only what the active prompt lists.',
  ],
  [
    'definitions 22.8',
    'SHOULD',
    'A sub-prompt sees its first message alone, and the conversation where its prompt includes the chat.',
  ],
  [
    'definitions 14.1',
    'MUST',
    'The properties of ThreadState and of its execution say what is so as the code begins; arguments are read-only.',
  ],
  ['definitions 14.2', 'MUST', 'Deleting a message removes the files that no other message names.'],
  [
    'definitions 22.25',
    'SHOULD',
    "A hook's failure is logged and the chain continues; only injectMessage is rejected by before_create_message.",
  ],
  [
    'definitions 22.26',
    'SHOULD',
    'prefilter_llm_history may refuse a request: the execution ends with hook_blocked.',
  ],
  ['definitions 22.43', 'SHOULD', "A prompt's hooks replace the agent's; an empty list falls through."],
  [
    'definitions 15.1',
    'MUST',
    'A message that a subagent sent, or that answers a call of one, tells of it what the registry has.',
  ],
  ['definitions 15.4', 'MUST', 'Attachments are files of the thread, named by their paths.'],
  [
    'definitions 15.5',
    'SHOULD',
    'Recent images go to models with image support; older ones, and other files, become text.',
  ],
  ['threadstate identity', 'MUST', 'threadId, agentId, userId, createdAt and arguments.'],
  [
    'threadstate messaging',
    'MUST',
    'getMessages, getMessage, injectMessage, updateMessage, deleteMessage, with silence, metadata and times.',
  ],
  ['threadstate queue', 'MUST', 'queueMessage is durable and ordered, and its entries show as pending.'],
  ['threadstate hierarchy', 'MUST', 'children, getChildThread, getParentThread, notifyParent, setStatus.'],
  ['threadstate lifecycle', 'MUST', 'terminate ends the thread; terminated says when.'],
  [
    'threadstate context',
    'MUST',
    'context is shared scratch of one execution, shown to prompts, and cleared after it.',
  ],
  ['threadstate execution', 'SHOULD', 'execution tells the flow and steers it: stop and forceTurn.'],
  ['threadstate loading', 'MUST', 'loadModel, loadPrompt, loadAgent, and the names there are.'],
  ['threadstate environment', 'MUST', 'env, envType and setEnv, in tools as anywhere.'],
  ['threadstate tools', 'MUST', 'queueTool and invokeTool.'],
  ['threadstate utilities', 'MUST', 'emit and the members that are specific to this runtime.'],
  [
    'threadstate files',
    'MUST',
    'readFile, writeFile, readdirFile, findFiles and the others, of this thread alone.',
  ],
  [
    'threadstate code execution',
    'MUST',
    'runCode runs untrusted code and answers its result, its reports and its logs.',
  ],
];

export const THREAD_STATE: readonly Requirement[] = ROWS.map(([id, level, text]) => ({ id, level, text }));
