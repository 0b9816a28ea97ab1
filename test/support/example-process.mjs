/**
 * A process that runs examples (`examples-twice.ts`), which copies this file beside them: `node example-process.mjs
 * first 0 1`. In the second process each example runs a last time, once all have ended.
 */
const [, , run, ...numbers] = process.argv;
// Exits when its parent does: no process may outlive its test.
process.on('disconnect', () => process.exit(1));

async function play(name) {
  process.env.EVERTHREAD_EXAMPLE_RUN = name;
  await Promise.all(
    numbers.map(async (number) => {
      const told = { run: name, number: Number(number) };
      try {
        await import(`./example-${number}.ts?${name}`);
        process.send({ ...told, state: 'done' });
      } catch (error) {
        process.send({ ...told, state: `failed: ${error?.stack ?? error}` });
      }
    }),
  );
}

await play(run);
if (run === 'second') await play('again');
// An example that has failed may have left its worker open. The last message is sent once it is called back.
process.send({ run, number: -1, line: 'over' }, () => process.exit(0));
