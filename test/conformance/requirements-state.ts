/** The surfaces of ThreadState. */
import type { Requirement } from './requirement.ts';

type Row = readonly [id: string, level: Requirement['level'], text: string];

const ROWS: readonly Row[] = [
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
    'context is scratch data of one execution, available to prompts and cleared afterwards.',
  ],
  ['threadstate execution', 'SHOULD', 'execution describes the flow and steers it with stop and forceTurn.'],
  ['threadstate loading', 'MUST', 'loadModel, loadPrompt, loadAgent, and lists of names.'],
  ['threadstate environment', 'MUST', 'env, envType and setEnv, in tools and everywhere else.'],
  ['threadstate tools', 'MUST', 'queueTool and invokeTool.'],
  ['threadstate utilities', 'MUST', 'emit and the members that are specific to this runtime.'],
  [
    'threadstate files',
    'MUST',
    'readFile, writeFile, readdirFile, findFiles and the others, restricted to this thread.',
  ],
  [
    'threadstate code execution',
    'MUST',
    'runCode runs untrusted code and returns its result, reports and logs.',
  ],
];

export const THREAD_STATE: readonly Requirement[] = ROWS.map(([id, level, text]) => ({ id, level, text }));
