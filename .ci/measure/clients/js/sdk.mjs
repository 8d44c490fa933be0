// What a program that is built on the TypeScript SDK does with a server, one
// check after the other. The argument is JSON:
//
//   { generation: "v1"|"v2", mode: "legacy"|"auto"|"pin", dir, servers: {catalog, progress, asking, changing} }
//
// The output is an array of { check, error }, error "" where it held, and "-"
// where the revision has no such thing.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { open, warnings } from './clients.mjs';

const { generation, mode, dir, servers } = JSON.parse(process.argv[2]);
const modern = mode === 'auto' || mode === 'pin';
const revision = modern ? '2026-07-28' : '2025-11-25';
const results = [];
let face;

/** on runs checks against one server with one client. */
async function on(server, options, checks) {
  try {
    face = await open(generation, mode, servers[server], options);
  } catch (error) {
    results.push({ check: `connect to ${server}`, error: said(error) });
    return;
  }
  for (const [check, run] of checks) {
    const mark = face.trace.length;
    try {
      const error = await run();
      results.push({ check, error: error === '-' ? '-' : '' });
    } catch (error) {
      const tail = face.trace.slice(mark).slice(-12).map((m) => JSON.stringify(m).slice(0, 600)).join('\n  ');
      results.push({ check, error: `${said(error)}\n  ${tail}\n  ${face.requests.slice(-6).join(', ')}` });
    }
  }
  results.push(await quiet(server));
}

const said = (error) => `${error?.name}: ${error?.message}`;

/** quiet ends the client; neither side may have complained. */
async function quiet(server) {
  const begin = performance.now();
  let error = '';
  try {
    if (face.client.transport?.sessionId) await face.transport.terminateSession();
    await face.close();
    assert.deepEqual(face.errors, []);
    assert.equal(face.stderr, '');
    assert.deepEqual(warnings.splice(0), []);
    const took = performance.now() - begin;
    assert.ok(took < 1500, `closing took ${Math.round(took)} ms`);
  } catch (e) {
    error = said(e);
  }
  return { check: `${server}: no error seen, ends at once`, error };
}

const text = (result) => result.content.map((c) => c.text).join('\n');
const file = join(dir, 'hello.txt');
const uri = pathToFileURL(file).href;

await on('catalog', {}, [
  ['connect', async () => {
    assert.equal(face.revision(), revision);
    assert.equal(face.client.getServerVersion().name, 'toolcrib');
    assert.match(face.client.getInstructions(), /inside these directories/);
  }],
  ['tools/list', async () => {
    const names = (await face.all('listTools', 'tools')).map((t) => t.name);
    for (const name of ['read_file', 'glob', 'grep', 'list_directory']) assert.ok(names.includes(name), `${name} in ${names}`);
  }],
  ['tools/call', async () => {
    assert.match(text(await face.call('read_file', { path: 'hello.txt' })), /hello, world/);
    assert.match(text(await face.call('glob', { pattern: '*.txt' })), /hello\.txt/);
  }],
  ['errors of tools and of the protocol', async () => {
    const missing = await face.call('read_file', { path: 'missing.txt' });
    assert.equal(missing.isError, true);
    assert.match(text(missing), /^not_found: .*missing\.txt/);
    const wrong = await face.call('read_file', { path: 7 });
    assert.equal(wrong.isError, true);
    await assert.rejects(face.call('no_such_tool'), { code: -32602 });
  }],
  ['ping', async () => {
    if (modern) return '-';
    await face.client.ping();
  }],
  ['logging/setLevel', async () => {
    if (modern) return '-';
    await face.client.setLoggingLevel('info');
  }],
  ['resources/list', async () => {
    for (let i = 0; i < 120; i++) await writeFile(join(dir, `more-${i}.txt`), `${i}\n`); // more than a page
    const listed = await face.all('listResources', 'resources');
    assert.ok(new Set(listed.map((r) => r.uri)).size > 100, `${listed.length} resources`);
    for (const resource of listed.slice(-20)) {
      const { contents } = await face.client.readResource({ uri: resource.uri });
      assert.equal(contents[0].uri, resource.uri);
    }
  }],
  ['resources/templates/list', async () => {
    const templates = await face.all('listResourceTemplates', 'resourceTemplates');
    assert.ok(templates.some((t) => t.uriTemplate.startsWith('file://')), JSON.stringify(templates));
  }],
  ['resources/read of a file', async () => {
    const { contents } = await face.client.readResource({ uri });
    assert.deepEqual([contents[0].uri, contents[0].text], [uri, 'hello, world\n']);
    await assert.rejects(face.client.readResource({ uri: `${uri}.missing` }), /not_found/);
    const refusal = face.trace.at(-1).got.error; // v2 gives every revision's code as that of the newest
    assert.deepEqual([refusal.code, refusal.data.uri], [modern ? -32602 : -32002, `${uri}.missing`]);
    await assert.rejects(face.client.readResource({ uri: 'file:///etc/hostname' }), /outside|denied/);
  }],
  ['completion/complete', async () => {
    const [template] = (await face.all('listResourceTemplates', 'resourceTemplates')).filter((t) => t.uriTemplate.startsWith('file://'));
    const [, variable] = /\{[^a-z]*([a-z]+)/.exec(template.uriTemplate);
    const complete = async (value) => (await face.client.complete({
      ref: { type: 'ref/resource', uri: template.uriTemplate }, argument: { name: variable, value },
    })).completion.values;
    const all = await complete('');
    assert.ok(all.length > 0, 'nothing completes the empty value');
    const whole = (await complete(all[0].slice(0, -1)));
    assert.ok(whole.includes(all[0]), `${whole} without ${all[0]}`);
  }],
  ['prompts/list, prompts/get', async () => {
    const prompts = await face.all('listPrompts', 'prompts');
    assert.ok(prompts.length > 0);
    for (const prompt of prompts) {
      const args = Object.fromEntries((prompt.arguments ?? []).map((a) => [a.name, 'hello']));
      const { messages } = await face.client.getPrompt({ name: prompt.name, arguments: args });
      assert.equal(messages[0].role, 'user');
    }
    await assert.rejects(face.client.getPrompt({ name: 'no_such_prompt' }), { code: -32602 });
  }],
  ['a file that changes', async () => {
    const updated = [];
    face.on('notifications/resources/updated', ({ params }) => { updated.push(params.uri); });
    const subscription = await face.subscribe({ uri });
    await sleep(100); // more than the grain of a file's time
    await writeFile(file, 'hello, changed world\n');
    await face.until('notifications/resources/updated', () => updated.length > 0);
    await subscription.close();
    assert.equal(updated[0], uri);
    const count = updated.length;
    await writeFile(file, 'hello, world\n');
    await sleep(1500);
    assert.equal(updated.length, count, 'told of a change after the subscription ended');
  }],
]);

await on('progress', {}, [
  ['progress', async () => {
    const seen = [];
    const result = await face.call('count_up', { steps: 5, call: 1 }, { onprogress: ({ progress, total }) => { seen.push(`${progress}/${total}`); } });
    assert.match(text(result), /counted to 5/);
    assert.deepEqual(seen, ['1/5', '2/5', '3/5', '4/5', '5/5']);
  }],
  ['cancellation', async () => {
    const stop = new AbortController();
    const running = new Promise((resolve) => {
      const call = face.call('wait', {}, { signal: stop.signal, onprogress: () => resolve() });
      call.catch(() => {});
      face.cancelled = call;
    });
    await running;
    stop.abort('enough');
    await assert.rejects(face.cancelled);
    await face.until('the tool is cancelled', async () => text(await face.call('waits')) === '0 running, 1 cancelled');
    const answered = face.trace.filter(({ got }) => got?.error?.message?.includes('cancel'));
    assert.deepEqual(answered, []);
  }],
]);

const asked = [];
let answers = [];
await on('asking', { form: async (params) => { asked.push(params); return answers.shift(); } }, [
  ['asked: accept, decline, cancel', async () => {
    answers = [{ action: 'accept', content: { name: 'Ann', tone: 'hi' } }];
    assert.equal(text(await face.call('greet')), 'hi, Ann');
    assert.equal(asked[0].message, 'Who is to be greeted?');
    assert.deepEqual(asked[0].requestedSchema.required, ['name']);
    answers = [{ action: 'decline' }, { action: 'cancel' }];
    assert.equal(text(await face.call('greet')), 'nobody greeted: decline');
    assert.equal(text(await face.call('greet')), 'nobody greeted: cancel');
  }],
  ['asked twice in one call', async () => {
    answers = [{ action: 'accept', content: { what: 'pears' } }, { action: 'accept', content: { count: 3 } }];
    assert.equal(text(await face.call('order')), '3 times "pears"');
  }],
  ['asked for consent', async () => {
    answers = [{ action: 'accept', content: {} }, { action: 'decline' }];
    assert.equal(text(await face.call('remove', { name: 'a.txt' })), 'removed a.txt');
    assert.match(asked.at(-1).message, /remove a\.txt/);
    const refused = await face.call('remove', { name: 'b.txt' });
    assert.equal(refused.isError, true);
    assert.match(text(refused), /^declined: /);
  }],
]);

await on('asking', {}, [
  ['not asked where the client cannot', async () => {
    const result = await face.call('greet');
    assert.equal(result.isError, true);
    assert.match(text(result), /cannot show a form/);
  }],
]);

const questions = {
  questions: [
    { header: 'Colour', question: 'Which colour?', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }] },
    { header: 'Parts', question: 'Which parts?', options: [{ label: 'a, b' }, { label: 'c' }], multiSelect: true, free: false },
    { question: 'What name?' },
  ],
};
await on('catalog', { form: async (params) => { asked.push(params); return answers.shift()(); } }, [
  ['ask_user: choices, several, other words', async () => {
    answers = [() => ({ action: 'accept', content: { answer_1: 'Red', answer_1_other: 'but darker', answer_2: ['a, b', 'c'] } })];
    const got = text(await face.call('ask_user', questions));
    assert.match(got, /answered\n1\. Colour: Red; in the user's words: but darker\n2\. Parts: a, b; c\n3\. What name\?: no answer$/);
    assert.deepEqual(Object.keys(asked.at(-1).requestedSchema.properties), ['answer_1', 'answer_1_other', 'answer_2', 'answer_3']);
  }],
  ['ask_user: declined, cancelled, closed by the client', async () => {
    const slowly = (action) => async () => { await sleep(700); return { action }; };
    answers = [slowly('decline'), slowly('cancel'), () => ({ action: 'cancel' })];
    assert.match(text(await face.call('ask_user', questions)), /^(note: .*\n+)*declined: /);
    assert.match(text(await face.call('ask_user', questions)), /^(note: .*\n+)*cancelled: /);
    assert.match(text(await face.call('ask_user', questions)), /^(note: .*\n+)*not asked: the client closed the form after /);
  }],
]);

await on('catalog', {}, [
  ['ask_user where the client cannot', async () => {
    const got = text(await face.call('ask_user', questions));
    assert.match(got, /not asked: this client cannot show a form; put this to the user/);
    assert.match(got, /\n1\. Colour: Which colour\?\n {3}a\) Red: warm\n {3}b\) Blue\n {3}or another answer\n/);
  }],
]);

await on('changing', {}, [
  ['a list that changes', async () => {
    let changed = 0;
    face.on('notifications/tools/list_changed', () => { changed++; });
    const names = async () => (await face.all('listTools', 'tools')).map((t) => t.name);
    assert.deepEqual(await names(), ['grow']);
    const subscription = await face.subscribe({});
    await face.call('grow');
    await face.until('notifications/tools/list_changed', () => changed > 0);
    assert.deepEqual(await names(), ['grow', 'grown']);
    assert.equal(text(await face.call('grown')), 'here');
    await subscription.close();
  }],
]);

if (!modern) {
  const sub = join(dir, 'sub');
  await mkdir(sub, { recursive: true });
  await writeFile(join(sub, 'inner.txt'), 'inner\n');
  let roots = [{ uri: pathToFileURL(sub).href, name: 'sub' }];
  await on('catalog', { roots: () => roots }, [
    ['roots narrow the workspace', async () => {
      await face.until('the root is the first', async () => /inner/.test(text(await face.call('read_file', { path: 'inner.txt' }))));
      const outside = await face.call('read_file', { path: file });
      assert.equal(outside.isError, true, text(outside));
      assert.match(text(outside), /^denied: /);
      roots = [{ uri: pathToFileURL(dir).href, name: 'all' }];
      await face.client.sendRootsListChanged();
      await face.until('the roots are wider', async () => /hello/.test(text(await face.call('read_file', { path: 'hello.txt' }))));
    }],
    ['roots never widen it', async () => {
      roots = [{ uri: 'file:///etc', name: 'elsewhere' }, { uri: pathToFileURL(sub).href, name: 'sub' }];
      await face.client.sendRootsListChanged();
      await face.until('the root is the first', async () => /inner/.test(text(await face.call('read_file', { path: 'inner.txt' }))));
      for (const path of ['/etc/hostname', file]) {
        const outside = await face.call('read_file', { path });
        assert.equal(outside.isError, true, text(outside));
      }
    }],
  ]);
}

console.log(JSON.stringify(results));
