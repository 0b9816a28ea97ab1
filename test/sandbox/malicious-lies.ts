/** False messages of a compromised child to its host: each source sends one, and nothing after it. */

export const OF = '{ kind: "settled", run, settlement: ';
/** None of them settles the run, except by ending it. */
export const LIES: Readonly<Record<string, string>> = {
  // From a fixed seed, so that a run can be repeated; the next entries are what other random bytes might mean.
  'bytes of chance':
    'let s = 7; raw(Buffer.from(Array.from({ length: 100_000 }, () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) >>> 24)))',
  'a frame of 4 GiB': 'raw(Buffer.from([255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0]))',
  'a frame of 100 MB': 'const b = Buffer.alloc(1000); b.writeUInt32LE(1e8); raw(b)',
  'a frame without a length': 'raw(Buffer.alloc(64))',
  'parts longer than their frame':
    'const b = Buffer.alloc(13); b.writeUInt32LE(9); b.writeUInt32LE(2 ** 31, 4); raw(b)',
  'a head that is no JSON':
    'const b = Buffer.alloc(16, 0x7b); b.writeUInt32LE(12); b.writeUInt32LE(3, 4); b.writeUInt32LE(0, 8); b[12] = 0; raw(b)',
  'a head of brackets':
    'const n = 500_000, b = Buffer.alloc(13 + n, 0x5b); b.writeUInt32LE(9 + n); b.writeUInt32LE(n, 4); b.writeUInt32LE(0, 8); b[12] = 0; raw(b)',
  'a text of no kind': 'const b = Buffer.from([11, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 123, 125]); raw(b)',
  nothing: 'say(null)',
  'a list': 'say([1, 2, 3])',
  'a message of no kind': 'say({ run })',
  'a message of an unknown kind': 'say({ kind: "run", run })',
  'a settled without a settlement': 'say({ kind: "settled", run })',
  'a settlement without a value': `say(${OF}{ status: "success", held: false } })`,
  'a settlement without a status': `say(${OF}{} })`,
  'a status of its own': `say(${OF}{ status: "terminated", error: { name: "a", message: "b" } } })`,
  'a status from the prototype': `say(${OF}{ status: "constructor" } }, text("x"))`,
  'an error without a name': `say(${OF}{ status: "error", error: { message: "x" } } })`,
  'an error of a megabyte': `say(${OF}{ status: "error", error: { name: "x", message: "x".repeat(1e5) } } })`,
  'an error at half a line': `say(${OF}{ status: "error", error: { name: "x", message: "x", line: 1.5 } } })`,
  'an error at a line of text': `say(${OF}{ status: "link_error", error: { name: "x", message: "x", line: "1" } } })`,
  'an error whose stack is a list': `say(${OF}{ status: "memory", error: { name: "x", message: "x", stack: [] } } })`,
  'a memory of text': `say(${OF}{ status: "success", held: false }, memoryUsedBytes: "much" }, text("x"))`,
  'a memory below nothing': `say(${OF}{ status: "success", held: false }, memoryUsedBytes: -1 }, text("x"))`,
  'a value that is no table': `say(${OF}{ status: "success", held: false }, memoryUsedBytes: 1 }, { text: "garbage" })`,
  'an idle before its run has settled': 'say({ kind: "idle", run, rssBytes: 1 })',
  'an idle of nothing': 'say({ kind: "idle", run: 0, rssBytes: 1 })',
  'an idle without a number': 'say({ kind: "idle", run, rssBytes: null })',
  'twice that it is ready': 'say({ kind: "ready" })',
  'a run that was never given':
    'say({ kind: "settled", run: run + 1000, settlement: { status: "success", held: false } }, text("x"))',
  'a run that is a text': 'say({ kind: "remark", run: String(run), remark: { kind: "report" } }, text("x"))',
  'a run beyond all numbers': 'say({ kind: "remark", run: 1e300, remark: { kind: "report" } }, text("x"))',
  'a crossing of no kind': 'say({ kind: "crossing", run, crossing: { kind: "give", id: 1 } }, text("x"))',
  'a call without a value': 'say({ kind: "crossing", run, crossing: { kind: "call", id: 1, fn: 1 } })',
  'a call of a function -1':
    'say({ kind: "crossing", run, crossing: { kind: "call", id: 1, fn: -1 } }, text("x"))',
  'two calls under one id':
    'for (let i = 0; i < 2; i++) say({ kind: "crossing", run, crossing: { kind: "call", id: 1, fn: 1 } }, args("x"))',
  'calls without end':
    'for (let i = 1; i < 5000; i++) say({ kind: "crossing", run, crossing: { kind: "call", id: i, fn: 2 } }, args("x"))',
  'an answer that was not asked for':
    'say({ kind: "crossing", run, crossing: { kind: "answer", id: 1, ok: true } }, text("x"))',
  'a log of level 99': 'say({ kind: "remark", run, remark: { kind: "log", level: 99 } }, text("x"))',
  'a remark of no kind': 'say({ kind: "remark", run, remark: {} }, text("x"))',
  'a remark that is no value': 'say({ kind: "remark", run, remark: { kind: "report" } }, { text: "[[[[" })',
  'remarks of runs long past':
    'for (let i = 0; i < 5000; i++) say({ kind: "remark", run: 0, remark: { kind: "report" } }, text("x"))',
};
