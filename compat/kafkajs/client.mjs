// client.mjs BOOTSTRAP: kafkajs, asked in JSON lines.

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import kafkajs from 'kafkajs'
import Batch from 'kafkajs/src/consumer/batch.js'
import Snappy from 'kafkajs-snappy'
import lz4 from 'lz4-napi'
import { Cannot, serve, sleep, text } from './adapter.mjs'
import { cannot as cannotInGroups, groupAsks, memberAsks } from './groups.mjs'
import { transactionAsks } from './transactions.mjs'

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs
const WAIT_MS = 20_000
const EARLIEST = -2
const LATEST = -1
const OFFSET_OUT_OF_RANGE = 1

CompressionCodecs[CompressionTypes.Snappy] = Snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: encoder => lz4.compressFrame(encoder.buffer),
  decompress: buffer => lz4.decompressFrame(buffer)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => zstdCompressSync(encoder.buffer),
  decompress: async buffer => zstdDecompressSync(buffer)
})

const cannot = {
  alter: 'change configs one by one (IncrementalAlterConfigs)',
  api_versions: 'show the versions that a broker told',
  coordinator: 'ask for a coordinator outside of a group',
  log_dirs: 'describe the log directories',
  leader_epoch: 'ask for the end of a leader epoch',
  producer_id: 'show the id of an idempotent producer',
  topic_id: 'show topic ids, which are above its version of Metadata'
}

const kafka = new Kafka({
  brokers: [process.argv[2]], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 3 }
})

/** The protocol's code is in the error, or in what it was made of. */
function codeOf (error) {
  for (let inner = error; inner != null; inner = inner.cause ?? inner.errors?.[0] ?? inner.groups?.[0]?.error ?? inner.partitions?.[0]?.error) {
    if (typeof inner.code === 'number') {
      return inner.code
    }
    // What kafkajs refuses before it asks the broker.
    if (/^Invalid (topic|resource name)|^The consumer group must have no running/.test(inner.message)) {
      return `client: ${inner.message}`
    }
  }
  return null
}

async function withAdmin (action) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await action(admin)
  } finally {
    await admin.disconnect()
  }
}

/** kafkajs reads only as a member of a group. This is the layer under its consumer, which its package keeps to itself. */
async function withCluster (committed, topic, action) {
  const create = Object.getOwnPropertySymbols(kafka).find(symbol => symbol.description === 'private:Kafka:createCluster')
  const cluster = kafka[create]({ isolationLevel: committed ? 1 : 0, allowAutoTopicCreation: false, metadataMaxAge: 500 })
  await cluster.connect()
  try {
    await cluster.addTargetTopic(topic)
    return await action(cluster)
  } finally {
    await cluster.disconnect()
  }
}

const topicAsks = {
  create: ({ topic, partitions, replicas, configs, validate_only: validateOnly, assignment }) => withAdmin(async admin => {
    const created = { topic, numPartitions: partitions, replicationFactor: replicas }
    created.configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    if (assignment) {
      created.replicaAssignment = assignment.map((replicas, partition) => ({ partition, replicas }))
    }
    if (!await admin.createTopics({ topics: [created], validateOnly, waitForLeaders: false })) {
      throw Object.assign(new Error('false: it exists'), { code: 36 })
    }
  }),
  delete: ({ topic }) => withAdmin(admin => admin.deleteTopics({ topics: [topic] })),
  delete_records: ({ topic, partition, before }) => withAdmin(async admin => {
    await admin.fetchTopicOffsets(topic) // or it does not know the topic's leaders
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] })
  }),
  grow: ({ topic, total, validate_only: validateOnly }) => withAdmin(async admin => {
    await admin.createPartitions({ topicPartitions: [{ topic, count: total }], validateOnly })
  }),
  partitions: async ({ topic }) => (await described(topic)).length,
  shape: async ({ topic }) => (await described(topic)).map(p => [p.partitionId, p.replicas.length, p.isr.length, p.leader >= 0]),
  topics: () => withAdmin(admin => admin.listTopics()),
  cluster: () => withAdmin(async admin => {
    const found = await admin.describeCluster()
    const nodes = found.brokers.map(broker => broker.nodeId)
    return { nodes, controller: found.controller, id: Boolean(found.clusterId), host: found.brokers[0].host }
  })
}

function described (topic) {
  return withAdmin(async admin => (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions)
}

const configAsks = {
  configs: ({ kind, name }) => withAdmin(async admin => {
    const type = kind === 'broker' ? ConfigResourceTypes.BROKER : ConfigResourceTypes.TOPIC
    const found = await admin.describeConfigs({ resources: [{ type, name }], includeSynonyms: true })
    return Object.fromEntries(found.resources[0].configEntries.map(told))
  }),
  alter_all: ({ topic, configs }) => withAdmin(async admin => {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    await admin.alterConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }] })
  })
}

function told (entry) {
  return [entry.configName, {
    value: entry.configValue,
    source: entry.configSource,
    read_only: entry.readOnly,
    sensitive: entry.isSensitive,
    synonyms: entry.configSynonyms.map(s => [s.configName, s.configValue, s.configSource])
  }]
}

async function produce ({ topic, partition, batches, codec = 'none', acks = -1, idempotent = true, auto_create: allowAutoTopicCreation = false }) {
  const producer = kafka.producer({ allowAutoTopicCreation, idempotent, maxInFlightRequests: 1, createPartitioner: () => () => partition })
  await producer.connect()
  try {
    const compression = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 }[codec]
    const offsets = []
    for (const batch of batches) {
      const [done] = await producer.send({ topic, acks, compression, messages: batch.map(message) })
      batch.forEach((_, n) => offsets.push(done ? Number(done.baseOffset) + n : -1))
    }
    return offsets
  } finally {
    await producer.disconnect()
  }
}

function message ({ key, value, headers, timestamp }) {
  const sent = { key, value, headers: {} }
  for (const [name, value] of headers ?? []) {
    if (value === null) {
      throw new Cannot('send a header without a value')
    }
    sent.headers[name] = name in sent.headers ? [sent.headers[name], value].flat() : value
  }
  return timestamp == null ? sent : { ...sent, timestamp: String(timestamp) }
}

async function offset ({ topic, partition, at, committed }) {
  const found = offsets => Number(there(offsets?.find(o => o.partition === partition)).offset)
  if (at < 0 && at !== EARLIEST && at !== LATEST) {
    throw new Cannot('ask for special times other than the earliest and the latest')
  }
  if (at === LATEST && !committed) {
    // Its admin asks for ends as read_committed.
    return [await withCluster(false, topic, async cluster => {
      const [answer] = await cluster.fetchTopicsOffset([{ topic, fromBeginning: false, partitions: [{ partition }] }])
      return found(answer?.partitions)
    }), null]
  }
  return await withAdmin(async admin => {
    const ends = await admin.fetchTopicOffsets(topic)
    const end = there(ends.find(o => o.partition === partition))
    if (at < 0) {
      return [Number(at === EARLIEST ? end.low : end.high), null]
    }
    // It tells the end where there is no record of that time or later.
    const first = found(await admin.fetchTopicOffsetsByTimestamp(topic, at))
    return [first === Number(end.high) ? -1 : first, null]
  })
}

/** kafkajs asks only about partitions that it knows. */
function there (offsets) {
  if (!offsets) {
    throw new Cannot('ask for the offsets of a partition that is not there')
  }
  return offsets
}

async function read ({ topic, partition, start, end, count, committed, max_bytes: maxBytes = 1_048_576, max_wait_ms: maxWaitTime = 100, reset }) {
  if (reset === 'earliest') {
    throw new Cannot('go to the earliest offset by itself outside of a group')
  }
  const nothingToCome = end != null && start >= end
  const deadline = Date.now() + (nothingToCome ? 300 : WAIT_MS)
  const records = []
  while (Date.now() < deadline) {
    const next = records.length > 0 ? records.at(-1).offset + 1 : start
    const found = await fetched({ topic, partition, next, committed, maxBytes, maxWaitTime })
    records.push(...found.filter(r => r.offset >= next))
    if (count != null && records.length >= count) {
      return records.slice(0, count)
    }
    if (end != null && records.length > 0 && records.at(-1).offset >= end - 1) {
      return records
    }
  }
  if (!nothingToCome) {
    throw new Error(`${records.length} records, then nothing`)
  }
  return records
}

async function fetched ({ topic, partition, next, committed, maxBytes, maxWaitTime }) {
  try {
    return await withCluster(committed, topic, async cluster => {
      const broker = await cluster.findBroker({ nodeId: Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0] })
      const topics = [{ topic, partitions: [{ partition, fetchOffset: next, maxBytes }] }]
      const answer = await broker.fetch({ maxWaitTime, minBytes: 1, maxBytes, isolationLevel: committed ? 1 : 0, topics })
      // Its consumer leaves out by this what was aborted, and markers.
      const batches = answer.responses.flatMap(t => t.partitions).map(p => new Batch(topic, String(next), p))
      return batches.flatMap(batch => batch.messages).map(shown)
    })
  } catch (error) {
    const code = codeOf(error)
    if (code === null || code === OFFSET_OUT_OF_RANGE) {
      throw error
    }
    await sleep(100) // a view that is not there yet
    return []
  }
}

function shown (m) {
  const headers = Object.entries(m.headers).flatMap(([name, value]) => [value].flat().map(v => [name, text(v)]))
  return { offset: Number(m.offset), key: text(m.key), value: text(m.value), headers, timestamp: Number(m.timestamp) }
}

const ofGroups = { ...memberAsks(kafka, withAdmin), ...groupAsks(withAdmin) }
const ofRecords = { produce, offset, read, ...transactionAsks(kafka, message) }
await serve({ ...topicAsks, ...configAsks, ...ofGroups, ...ofRecords }, { ...cannot, ...cannotInGroups }, codeOf)
