/** The runtime chapter of the Standard Agents spec from §8 on; see page-lines-runtime.ts. */
import { differs, type PageLine, reads } from './page-line.ts';

export const RUNTIME_LINES_FROM_8: readonly PageLine[] = [
  reads(
    '§8: attachments are copied',
    'under a path of their own, and texts and arguments that are sent along name the copy. A call that names a missing file is refused; a report is delivered without it and lists it in `missingAttachments`',
    'runtime 8',
    'runtime 8.1',
  ),
  reads(
    '§8.1: files that code attaches to a message of a relative',
    "an AttachmentRef is the sender's file, unless only the receiver's fits it; a bare path is the receiver's file if there is one, else the sender's, which is copied, else `FileNotFound`",
    'runtime 8.1',
  ),
  reads(
    "§8.2: the queued message of a child's report",
    'it is silent, and addressed to the side that asked: side A, or the side of two that called the child',
    'definitions 13.6',
  ),
  reads(
    '§8.2: ends that are neither completion nor failure',
    'limits, refusals and faults are failures with the last output; a cancelled child is reported as such, except to a parent that was stopped itself; a stopped one only to a call that waits, because it may go on; a terminated one only if an answer is owed',
    'runtime 8.2',
  ),
  reads(
    '§8.3: sessionStatus',
    'a status has at most 500 characters, and is replaced when an execution of the child ends, unless its communication is explicit and the end is a result',
    'runtime 8.3',
  ),
  differs(
    '§9: a message queued on an idle thread forces its next turn',
    'not on a thread that a person has stopped: what effects and its own code queue waits there for a message of a person or a relative, or else a stop would not hold. What a thread has queued for itself also waits once a limit has ended its execution',
    'runtime 6.4',
  ),
  reads(
    '§9: queued work is durable',
    'a message of our client or of code is in the store before Temporal is told of it. `queueTool`, which cannot be awaited, is stored with the result of the call that queued it: a call that is lost has queued nothing',
    'definitions 14.6',
  ),
  reads(
    '§10: future operations are rejected',
    'so are all writes (messages, values, variables, files); reading goes on. Code that has terminated its own thread queues and runs nothing in a relative either',
    'runtime 10',
  ),
  reads(
    '§10: in-flight work is aborted',
    'its signal fires and its calls get the result "stopped"; the call that has terminated its thread keeps its own result, since its work is done',
    'runtime 10',
  ),
  reads(
    '§10: what becomes of descendants and effects',
    'living descendants are terminated too, their reports are dropped, and pending effects are cancelled: nothing would be there to receive them',
    'runtime 10',
  ),
  reads(
    '§10: non-resumable children are typically terminated after their payload',
    'with their first report; one that was stopped, once the call that waited for it has its result, since it may go on otherwise',
    'definitions 13.2',
  ),
  reads(
    '§11: no concurrent flows',
    'effects run between steps, and while a step waits for a child. Endpoints are no flow: they run when they are asked, and what they queue waits its turn',
    'runtime 11',
    'definitions 11',
  ),
  reads(
    '§12: durable logs',
    'every event stays, except the pieces of streamed text, which are removed from ten minutes after their execution has ended: the message has the text. Tools that code invokes leave a log entry and no message',
    'runtime 12',
  ),
  reads(
    '§12: synthesized status messages (MAY)',
    'there are none: events report the same, and models would read the messages. The history has the call of a queued tool (`metadata.queuedTool`) and the text of a stopped step as far as it came (`metadata.stopped`). A `status_kind` that an author sets is shown with the log entry',
    'runtime 12',
  ),
  reads(
    '§13.1: intrinsics',
    '`WebAssembly`, `SharedArrayBuffer`, `Atomics` and `eval` do not exist, and nor does `queueMicrotask`, which §13.7 leaves open',
    'runtime 13.1.5',
  ),
  differs(
    '§13.2: the namespace of an import is a frozen copy',
    'its properties cannot be written, but `Object.isFrozen` is false, as for every module namespace of the engine',
  ),
  reads(
    '§13.3: values that cross',
    'also regular expressions and errors; promises and objects with a `then` method are refused. Functions cross in both directions, and those of a final result can be called until the code that ran the program has ended',
    'runtime 13.3.3',
    'runtime 13.3.4',
  ),
  reads(
    '§13.4: memory',
    '64 MiB by default; a request below 8 is raised, one above 256 is clamped (choice (a)), and the message of the overrun names the limit in effect',
    'runtime 13.4.1',
    'definitions 19.5',
  ),
  reads(
    '§13.4: no timeout is invented',
    '`state.runCode` has none, and ends with the code that began it. The built-in tool `run_code` ends a program after 120 seconds and says so, because its model cannot call `terminate`',
    'runtime 13.4.4',
  ),
  reads(
    '§13.4: terminate settles within 50 ms (SHOULD), §13.9.8 (MUST)',
    'the handle settles at once, on the side of the host, also in a tight loop; the process behind it is killed if it has not ended 100 ms later',
    'runtime 13.4.2',
    'runtime 13.9.8',
  ),
  reads(
    '§13.4: safety caps',
    'on transfers, functions, logs and reports: they are listed in [sandbox.md](../sandbox.md#caps). Reports are data, so a run that exceeds theirs is ended; logs lose their oldest entries',
    'runtime 13.4.3',
  ),
  reads(
    '§14.1.3: values are not readable by any other thread',
    'nor through the state of a relative, nor by a tool that is invoked there (`ValuesNotShared`); there is no `getUserValue`. `memoryHook` keeps its notes, which other threads of the same user recall, in a store of its own. Clients that may read the thread read its values',
    'runtime 14.1.3',
  ),
  reads(
    '§14.1.4, §14.1.9: values',
    'what is not JSON is refused with its place, and values are not encrypted: secrets belong in variables',
    'runtime 14.1.4',
    'runtime 14.1.9',
  ),
  reads('§14.2: caps', 'keys of 512 characters, 256 KiB of JSON, 10,000 keys', 'runtime 14.2'),
];
