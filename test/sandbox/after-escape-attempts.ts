/**
 * What an attacker who left the isolate could try, in plain JavaScript in the child's main realm. Each attempt returns
 * what it reached; one that is held throws, returns `held`, or does not survive.
 * `target` is prepared by `after-escape.test.ts`.
 */
export interface Attempt {
  readonly name: string;
  /** The body of an async function. */
  readonly program: string;
  /** True if Node's permission model, or a bound on the process, holds it without a kernel wall. */
  readonly heldByNone: boolean;
  /** Set if it needs a fresh child: it asks what the child began with, or changes or ends its process. */
  readonly alone?: true;
}

/** Helpers that return once connected, bound or failed. */
const NET = `
  const net = require('node:net'), dgram = require('node:dgram');
  const event = (emitter, good) => new Promise((resolve, reject) => { emitter.once(good, resolve); emitter.once('error', reject); });
  const connect = async (...to) => { const s = net.connect(...to); await event(s, 'connect'); s.destroy(); return 'connected'; };`;
const FS = `const fs = require('node:fs');`;
const read = (path: string) => `${FS} return fs.readFileSync(${path}, 'latin1').slice(0, 20);`;
const write = (path: string) => `${FS} fs.closeSync(fs.openSync(${path}, 'w')); return 'wrote';`;
const held = (name: string, program: string): Attempt => ({ name, program, heldByNone: true });
const open = (name: string, program: string): Attempt => ({ name, program, heldByNone: false });
const alone = (attempt: Attempt): Attempt => ({ ...attempt, alone: true });

const READING: readonly Attempt[] = [
  held("reads the parent's environment", read("'/proc/' + process.ppid + '/environ'")),
  held("reads the worker's environment", read("'/proc/' + target.pid + '/environ'")),
  held('reads the environment of process 1', read("'/proc/1/environ'")),
  held("reads the worker's memory map", read("'/proc/' + target.pid + '/maps'")),
  held('reads /etc/passwd', read("'/etc/passwd'")),
  held('reads /etc/shadow', read("'/etc/shadow'")),
  held("reads the project's store", read('target.store')),
  held(
    'reads it by way of process.binding',
    `const b = process.binding('fs'); return 'opened ' + b.open(target.store, 0, 0o600);`,
  ),
  held('lists the home folder', `${FS} return fs.readdirSync(target.home).length + ' entries';`),
  held('lists the processes', `${FS} return fs.readdirSync('/proc').length + ' entries';`),
  held(
    'lists a folder by way of WASI',
    `const { WASI } = require('node:wasi'); new WASI({ version: 'preview1', preopens: { '/': target.home } }); return 'opened';`,
  ),
  held(
    'follows a link that it makes',
    `${FS} fs.symlinkSync(target.store, target.folder + '/link'); return fs.readFileSync(target.folder + '/link', 'latin1').slice(0, 20);`,
  ),
  held('opens its own memory', `${FS} fs.closeSync(fs.openSync('/proc/self/mem', 'r+')); return 'opened';`),
  alone(
    held(
      'finds files or sockets that it inherited',
      `
    ${FS} const found = [];
    // Node keeps its own root open, to close it when it runs out of descriptors.
    const root = (() => { try { return fs.statSync('/').ino; } catch {} })();
    for (let fd = 0; fd < 256; fd++) { try { const s = fs.fstatSync(fd); if (fd !== 3 && fd !== 2 && (s.isFile() || s.isSocket() || (s.isDirectory() && root !== undefined && s.ino !== root))) found.push(fd); } catch {} }
    if (found.length) return 'found ' + found; throw new Error('none but its channel');`,
    ),
  ),
  alone(
    held(
      'finds variables in its environment',
      `const all = Object.entries(process.env).map(String).filter((each) => each !== 'TZ,UTC' && each !== 'PWD,/'); if (all.length) return all.join(); throw new Error('none but TZ=UTC and PWD=/');`,
    ),
  ),
];

const WRITING: readonly Attempt[] = [
  held('writes into /tmp', write("'/tmp/everthread-escaped'")),
  held("writes into the worker's folder", write("target.folder + '/escaped'")),
  held('writes into the home folder', write("target.home + '/everthread-escaped'")),
  held(
    "changes the sandbox's own code",
    `${FS} fs.closeSync(fs.openSync(target.code, 'a')); return 'opened';`,
  ),
  held(
    'attaches a database of node:sqlite',
    `
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? require('node:sqlite');
    const db = new DatabaseSync(':memory:'); db.exec("ATTACH '" + target.folder + "/escaped.db' AS a; CREATE TABLE a.t (x)"); return 'wrote';`,
  ),
  held(
    'writes a diagnostic report',
    `const { path } = { path: target.folder + '/report.json' }; process.report.writeReport(path); if (require('node:fs').existsSync(path)) return 'wrote'; throw new Error('nothing was written');`,
  ),
  held(
    'writes a heap snapshot',
    `require('node:v8').writeHeapSnapshot(target.folder + '/x.heapsnapshot'); return 'wrote';`,
  ),
  alone(
    held(
      'has V8 write a log',
      `require('node:v8').setFlagsFromString('--logfile=' + target.folder + '/v8.log'); require('node:v8').setFlagsFromString('--log-code'); require('node:v8').setFlagsFromString('--log'); for (let i = 0; i < 10; i++) eval('(function f' + i + '() { return ' + i + ' })()'); if (target.exists) return 'wrote'; throw new Error('nothing is seen of it');`,
    ),
  ),
  held(
    'makes 10,000 files',
    `${FS} for (let i = 0; i < 10_000; i++) fs.closeSync(fs.openSync('/dev/shm/everthread-' + i, 'w')); return 'made';`,
  ),
  held(
    'fills the shared memory',
    `${FS} const f = fs.openSync('/dev/shm/everthread-fill', 'w'); for (let i = 0; i < 64; i++) fs.writeSync(f, Buffer.alloc(1 << 20)); return 'filled';`,
  ),
];

const STARTING: readonly Attempt[] = [
  held(
    'starts a shell',
    `return require('node:child_process').execFileSync('/bin/sh', ['-c', 'id']).toString();`,
  ),
  held(
    'starts Node',
    `return require('node:child_process').execFileSync(process.execPath, ['-p', '1']).toString();`,
  ),
  held(
    'starts a shell by way of process.binding',
    `
    const { spawn } = process.binding('spawn_sync');
    const { pid, error } = spawn({ file: '/bin/sh', args: ['sh', '-c', 'exit'], envPairs: [], stdio: [] }); if (pid > 0) return 'started ' + pid; throw new Error('error ' + error);`,
  ),
  alone(
    held(
      'starts one by way of cluster',
      `const c = require('node:cluster'); c.setupPrimary({ exec: process.argv[1] }); c.fork(); return 'started';`,
    ),
  ),
  alone(held('becomes a shell', `process.execve('/bin/sh', ['sh', '-c', 'exit 7'], {}); return 'became';`)),
  alone(
    held(
      'makes a thread with options of its own',
      `
    const { Worker } = require('node:worker_threads');
    const worker = new Worker("require('node:fs').readFileSync('/etc/passwd')", { eval: true, execArgv: [], env: {} });
    await new Promise((resolve, reject) => { worker.once('exit', (code) => code ? reject(new Error('exit ' + code)) : resolve()); worker.once('error', reject); }); return 'ran';`,
    ),
  ),
  alone(
    held(
      'opens an inspector',
      `const inspector = require('node:inspector'); inspector.open(0, '127.0.0.1'); const url = inspector.url(); if (url) return url; throw new Error('no port');`,
    ),
  ),
  alone(
    held(
      'sets off a bomb of processes',
      `for (let i = 0; i < 200; i++) require('node:child_process').spawn(process.execPath, ['-e', '0']); return 'started';`,
    ),
  ),
  alone(
    held(
      'loads an addon that it wrote',
      `
    ${FS} const path = '/dev/shm/everthread.node'; fs.writeFileSync(path, fs.readFileSync(target.addon)); process.dlopen({ exports: {} }, path); return 'loaded';`,
    ),
  ),
  alone(
    open(
      'loads a library of the system',
      `
    try { process.dlopen({ exports: {} }, target.library); } catch (error) { if (!/did not self-register/.test(error.message)) throw error; } return 'loaded';`,
    ),
  ),
  alone(
    held(
      'becomes root',
      `process.setuid(0); if (target.root) throw new Error('no more than the worker is'); return 'is root';`,
    ),
  ),
];

const OTHERS: readonly Attempt[] = [
  open('signals the worker', `process.kill(target.pid, 0); return 'may be signalled';`),
  open(
    'signals its parent',
    `process.kill(process.ppid, 0); if (process.ppid === 1) throw new Error('only the first process of its own namespace'); return 'may be signalled';`,
  ),
  open('signals whoever there is', `process.kill(-1, 0); return 'may be signalled';`),
  alone(
    open(
      "changes the worker's priority",
      `const os = require('node:os'); os.setPriority(target.pid, os.getPriority(target.pid)); return 'may be changed';`,
    ),
  ),
];

const NETWORK: readonly Attempt[] = [
  open('connects to a server on this machine', `${NET} return connect(target.port, '127.0.0.1');`),
  open("connects to an address of the machine's", `${NET} return connect(target.port, target.address);`),
  open(
    'listens on a port',
    `${NET} const s = net.createServer().listen(0, '127.0.0.1'); await event(s, 'listening'); s.close(); return 'listened';`,
  ),
  open(
    'sends a datagram',
    `${NET} const s = dgram.createSocket('udp4'); return new Promise((resolve, reject) => { s.once('error', reject); s.send('x', target.udp, '127.0.0.1', (e) => e ? reject(e) : resolve('sent')); });`,
  ),
  open(
    'asks a name server',
    `const { Resolver } = require('node:dns/promises'); const r = new Resolver({ timeout: 200, tries: 1 }); r.setServers(['127.0.0.1:' + target.udp]); await r.resolve4('example.org').catch((e) => { if (e.code !== 'ETIMEOUT') throw e; }); return 'asked';`,
  ),
  open('connects to a socket in the file system', `${NET} return connect(target.socket);`),
  open('connects to an abstract socket', `${NET} return connect({ path: '\\0' + target.abstract });`),
  open(
    'listens on an abstract socket',
    `${NET} const s = net.createServer().listen({ path: '\\0escaped-' + process.pid }); await event(s, 'listening'); s.close(); return 'listened';`,
  ),
  open(
    'fetches a page',
    `await fetch('http://127.0.0.1:' + target.port).catch(({ cause }) => { if (!/ECONNRESET|UND_ERR_SOCKET/.test(cause.code)) throw cause; }); return 'connected';`,
  ),
];

const TAKING: readonly Attempt[] = [
  alone(
    held(
      'takes a gigabyte of memory outside the isolate',
      `const all = []; for (let i = 0; i < 1024; i++) { all.push(Buffer.alloc(1 << 20, 1)); await new Promise((resolve) => setImmediate(resolve)); } return 'took it';`,
    ),
  ),
  alone(
    held(
      'takes it in one turn',
      `const all = []; for (let i = 0; i < 1024; i++) all.push(Buffer.alloc(1 << 20, 1)); return 'took it';`,
    ),
  ),
];

export const ATTEMPTS: readonly Attempt[] = [
  ...READING,
  ...WRITING,
  ...STARTING,
  ...OTHERS,
  ...NETWORK,
  ...TAKING,
];
