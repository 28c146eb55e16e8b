"""The datasets that Ziggurat knows, as facts."""

from ziggurat.data.datasets._converters import arrays, sequences, tabular
from ziggurat.data.datasets._info import DatasetInfo, PublishedFile

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_BROWNLEE = "jbrownlee/Datasets", "d20fcb6402ae34e653d4513b00f39257bb37ed7f"
_ARX = "arx-deidentifier/arx", "aacd487fb77b3af7970d5d6fa1b2f6cca1182b64"
_STAN = (
    "yingtaoluo/Spatial-Temporal-Attention-Network-for-POI-Recommendation",
    "8b82f2840e7f435a25398e1d42a835fc4129a4e2",
)
_DEEPLOG = "wuyifan18/DeepLog", "f3ba44dd4008a7d4606a1d3b324d4eb7c73ff5f9"
_LOGDEEP = "landauermax/logdeep", "a092c436f4f8267021a4e94b8286feed7326add7"
_AECID = "ait-aecid/anomaly-detection-log-datasets", "5296693689e855576689ee0b98ea497bf7d8f513"
_PATE_2017 = "npapernot/multiple-teachers-for-privacy", "e10667aceeb4c2890099d1af71a76aba285c42c6"
_PATE_2018 = "frhrdr/patepy", "2d0189f33656b3848f2946f5ba158b1b28eafebe"
_COHERENCE = (
    "Satchit-Sivakumar/Enforcing-Demographic-Coherence-A-Harms-Aware-Framework-for-Reasoning-about-Private-Data-Release",
    "dfcff90195dd9e69d8b7363f77b7236e95d65872",
)
_CSIC = "nxydyxsj123456/CSIC2010", "9ed2277f1f78987e195b1a1d368b0f63be3fb9ee"
_FWAF = (
    "faizann24/Fwaf-Machine-Learning-driven-Web-Application-Firewall",
    "9c92866c55ee361743fbf9379a33b51bdcf376b8",
)
_FWAF_GOOD = "liuzc188/UrlDetect-master", "e16c278aa02c02f3edeecba804ecfaf45173693c"
_HTTP_PARAMS = "Morzeux/HttpParamsDataset", "926670a710283f87c05b554680facf3f9530548c"
_BAD_URLS = (
    "faizann24/Using-machine-learning-to-detect-malicious-URLs",
    "010248768a814190e3d2b69dc861b4c0a00f3d9b",
)
_RETHINKING = "rmcelreath/rethinking", "ac1b3b2cda83f3e14096e2d997a6e30ad109eeee"
_FOURSQUARE_CITATION = (
    "Yang, Zhang, Zheng, Yu, IEEE Transactions on Systems, Man, and Cybernetics: Systems 45(1), 2015; "
    "preparation of Luo, Liu, Liu, STAN, WWW 2021"
)
_PATE_CITATION = (
    "Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson, Scalable Private Learning with PATE, ICLR 2018"
)


def _pin(place: tuple[str, str], path: str, name: str = "") -> PublishedFile:
    """A file of a public repository at a fixed commit, whose content therefore never changes."""
    repository, commit = place
    url = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
    return PublishedFile(name or path.rsplit("/", 1)[-1], (url,))


def _mnist_file(name: str) -> PublishedFile:
    mirrors = ("https://ossci-datasets.s3.amazonaws.com/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist")
    return PublishedFile(name, tuple(f"{mirror}/{name}" for mirror in mirrors))


_ENTRIES = (
    DatasetInfo(
        name="acs2019",
        title="NIST excerpt of the American Community Survey 2019, 20 areas of the nation",
        file="acs2019_nist_national.parquet",
        rows=27253,
        columns=24,
        citation="Task, Bhagat, Streat, Howarth, NIST Excerpts Benchmark Data, 2022, doi:10.18434/mds2-2895",
        licence="work of the United States government",
        file_sha256="d98e47c814989f4de0fe4deb9a34d522cb43be286ce7b50af5854197b910a050",
        content_sha256="6f1c042c01b1b3acb0f40e592b2a0ac614175924c4c72e787011f7f5a33bba82",
        origin="https://doi.org/10.18434/mds2-2895",
        note="Not applicable is null; PINCP is the income in dollars.",
        files=(_pin(_COHERENCE, "national2019.csv"),),
        convert=tabular.acs2019,
    ),
    DatasetInfo(
        name="adult_uci",
        title="Adult (census income), training and test part",
        file="adult_uci.parquet",
        rows=48842,
        columns=16,
        citation="Becker, Kohavi, Adult, UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20",
        licence="CC BY 4.0",
        file_sha256="5c74793d3a1dbac6efa71cefb95a0007ea643f13c136abd8d90980294dc08551",
        content_sha256="7c2a6288238c60a720c8222b8242c1f88178cff41070561bfc0577dfb98d9938",
        origin="https://archive.ics.uci.edu/dataset/2/adult",
        note="'?' stands for a missing value; the column split tells train from test.",
        files=(
            PublishedFile(
                "adult.data",
                (f"{_UCI}/adult/adult.data",),
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            PublishedFile(
                "adult.test",
                (f"{_UCI}/adult/adult.test",),
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
        ),
        convert=tabular.adult,
    ),
    DatasetInfo(
        name="arx_adult",
        title="Adult as ARX ships it: complete training rows, nine attributes",
        file="arx_adult.parquet",
        rows=30162,
        columns=9,
        citation="Prasser, Kohlmayer, Lautenschlaeger, Kuhn, ARX, AMIA 2014; Becker, Kohavi, Adult, 1996",
        licence="Apache-2.0",
        file_sha256="614d5bd2f62431efae99783d3a877381564b2a25af785f7bbbcbdbbd4d9a489b",
        content_sha256="ae21fb558795ec792d47e461b923e2852b36d27a2602c111ee6f7e4ae1130dcd",
        origin="https://github.com/arx-deidentifier/arx",
        files=(_pin(_ARX, "data/adult.csv"),),
        convert=tabular.arx_adult,
    ),
    DatasetInfo(
        name="arx_adult_hierarchies",
        title="Generalisation hierarchies for the nine attributes of arx_adult",
        file="arx_adult_hierarchies.csv.gz",
        rows=195,
        columns=6,
        citation="Prasser, Kohlmayer, Lautenschlaeger, Kuhn, ARX, AMIA 2014",
        licence="Apache-2.0",
        file_sha256="bbab0bf5d627605e325d81059d843c4548ab0442e1c7d48f3c107e5e686888e7",
        content_sha256="4141617b3af132f7c0faf7b04d6a048072cdd107dcd43c5eca4428b3d8e0891c",
        origin="https://github.com/arx-deidentifier/arx",
        note="Long form: attribute, then level0 (the value) to level4; levels an attribute lacks are null.",
        files=tuple(_pin(_ARX, f"data/adult_hierarchy_{attribute}.csv") for attribute in tabular.ARX_ATTRIBUTES),
        convert=tabular.arx_adult_hierarchies,
    ),
    DatasetInfo(
        name="foursquare_nyc_pois",
        title="Places of the Foursquare check-ins in New York",
        file="foursquare_nyc_pois.parquet",
        rows=5135,
        columns=3,
        citation=_FOURSQUARE_CITATION,
        licence="none stated; the authors ask to be cited",
        file_sha256="2724fa6c8a9aacc80a4cdf209b77015dcb69408a2a222a659ff59e6f1a591907",
        content_sha256="d300574fb43c5a919348d46d31231c3615187eea4f18b1213fe3ceb14c521a36",
        origin="https://sites.google.com/site/yangdingqi/home/foursquare-dataset",
        files=(_pin(_STAN, "data/NYC_POI.npy"),),
        convert=arrays.foursquare_pois,
    ),
    DatasetInfo(
        name="foursquare_nyc_visits",
        title="Foursquare check-ins in New York, 1,083 users",
        file="foursquare_nyc_visits.parquet",
        rows=147938,
        columns=3,
        citation=_FOURSQUARE_CITATION,
        licence="none stated; the authors ask to be cited",
        file_sha256="3d0ebbbe0a34c16d09390af6a7168acb608afbee64a1cc351e2ebc4065af299c",
        content_sha256="aa0fbd3f27c50eaaf1657d99cc124d76b2f8ab344c31c846e39075db3c4551f3",
        origin="https://sites.google.com/site/yangdingqi/home/foursquare-dataset",
        note="Minutes count from about 3 April 2012, 18:00 UTC (inferred); rarer places were dropped upstream.",
        files=(_pin(_STAN, "data/NYC.npy"),),
        convert=arrays.foursquare_visits,
    ),
    DatasetInfo(
        name="hdfs",
        title="Sequences of HDFS log keys, one block per row",
        file="hdfs_deeplog.parquet",
        rows=41276,
        columns=4,
        citation=(
            "Xu, Huang, Fox, Patterson, Jordan, SOSP 2009; He, Zhu, He, Lyu, Loghub, 2020; Du, Li, Zheng, "
            "Srikumar, DeepLog, CCS 2017"
        ),
        licence="MIT (DeepLog, logdeep), GPL-3.0 (AECID); Loghub: research use",
        file_sha256="0eed436226ff82f94d19c83443d7b0c2b32c6453cc20c0b47dab603eb57a14c5",
        content_sha256="82f86d303edf2937074caa2924a906f43ef9e3cd70d223174d760b36a2865030",
        origin="https://github.com/logpai/loghub",
        note="label 1 is abnormal. The normal test part of DeepLog is not included; the splits overlap.",
        files=(
            _pin(_DEEPLOG, "data/hdfs_train"),
            _pin(_DEEPLOG, "data/hdfs_test_abnormal"),
            _pin(_LOGDEEP, "data/hdfs/robust_log_train.csv"),
            _pin(_LOGDEEP, "data/hdfs/robust_log_valid.csv"),
            _pin(_AECID, "hdfs_loghub/hdfs_train", "aecid_hdfs_train"),
        ),
        convert=sequences.hdfs,
    ),
    DatasetInfo(
        name="howell1",
        title="Census of the Dobe !Kung: height, weight, age, sex",
        file="howell1.parquet",
        rows=544,
        columns=4,
        citation="Howell, Dobe !Kung, 1967-1969; McElreath, Statistical Rethinking",
        licence="GPL (>= 3), as part of the rethinking package",
        file_sha256="db7b1c9a616ecec7f619bccd7659cbe7eaad7d403dcf4eb0824db1c682c69ae3",
        content_sha256="3c7511e7ac83354c451429f79bdee7711ede80eb1c2680feebbcb50ddb43f4d7",
        origin="https://github.com/rmcelreath/rethinking",
        files=(_pin(_RETHINKING, "data/Howell1.csv"),),
        convert=tabular.howell1,
    ),
    DatasetInfo(
        name="mitbih",
        title="Heartbeats of the MIT-BIH Arrhythmia Database, 187 samples at 125 Hz",
        file="mitbih_beats.parquet",
        rows=109446,
        columns=5,
        citation=(
            "Moody, Mark, IEEE Engineering in Medicine and Biology 20(3), 2001, doi:10.13026/C2F305; "
            "preparation after Kachuee, Fazeli, Sarrafzadeh, 2018, arXiv:1805.00794"
        ),
        licence="ODC-By 1.0",
        file_sha256="6d0c8ac4637acc2170a6117c6713dbba4a763322e85c481e557e8401fdcc72e4",
        content_sha256="3fc7377ccd001bc977ddcf58f97488dc11212ccee455ca4b08a3f4bcf23f650a",
        origin="https://physionet.org/content/mitdb/1.0.0/",
        note=(
            "Derived again from the records, not the Kaggle file. cls 0 to 4 are N, S, V, F, Q (AAMI); beat holds "
            "187 bytes, which byte_matrix turns into an array."
        ),
    ),
    DatasetInfo(
        name="mnist",
        title="MNIST handwritten digits, 60,000 for training and 10,000 for testing",
        file="mnist.npz",
        rows=70000,
        columns=3,
        citation="LeCun, Cortes, Burges, The MNIST database of handwritten digits",
        licence="usually given as CC BY-SA 3.0",
        file_sha256="06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
        content_sha256="0540976afc5fdeba599ee04214e4aacd81c4156b7b6c4994873615aeae63a9a1",
        origin="http://yann.lecun.com/exdb/mnist/",
        note="image holds 28 x 28 grey values row by row as 784 bytes, which byte_matrix turns into an array.",
        files=tuple(
            _mnist_file(f"{stem}-{kind}-ubyte.gz")
            for stem in ("train", "t10k")
            for kind in ("images-idx3", "labels-idx1")
        ),
        convert=arrays.mnist,
    ),
    DatasetInfo(
        name="pate2017_student_labels",
        title="Noisy aggregated MNIST labels and the 100 that the student used",
        file="pate2017_mnist_student_labels.parquet",
        rows=9000,
        columns=2,
        citation=(
            "Papernot, Abadi, Erlingsson, Goodfellow, Talwar, Semi-supervised Knowledge Transfer for Deep "
            "Learning from Private Training Data, ICLR 2017"
        ),
        licence="none stated",
        file_sha256="5060a00a8ea9295b37952ed6e520cff5ebe0c458275537c8259bc2f7aa52cee7",
        content_sha256="86978d528c2d461e113fda13f58787128057b9bdbe041ca1040656ea20d5d1d3",
        origin="https://github.com/npapernot/multiple-teachers-for-privacy",
        note="Row i is MNIST test image i; the aggregation was Laplace with epsilon 1/20 a query.",
        files=(
            _pin(_PATE_2017, "mnist_250_student_labels_lap_20.npy"),
            _pin(_PATE_2017, "mnist_250_teachers_100_indices_used_by_student.npy"),
        ),
        convert=arrays.student_labels,
    ),
    DatasetInfo(
        name="pate2018_votes_adult",
        title="Votes of 250 teachers on the test part of Adult",
        file="pate2018_votes_adult_250.parquet",
        rows=16281,
        columns=2,
        citation=_PATE_CITATION,
        licence="none stated",
        file_sha256="5c6cc6a82826cae04ef5515f85f25cd726055ce1a786fba163bd062485c0b890",
        content_sha256="afb162efb84cd1007e51552084228d7d20f8e41626cc2dbd5d894ef263d624e4",
        origin="https://github.com/frhrdr/patepy",
        note="Row i is test row i of adult_uci; c0 counts votes for <=50K, c1 for >50K.",
        files=(_pin(_PATE_2018, "test_application/pate2018_test_data/adult_250_teachers.npy"),),
        convert=arrays.votes,
    ),
    DatasetInfo(
        name="pate2018_votes_mnist",
        title="Votes of 250 teachers on 9,000 MNIST test images",
        file="pate2018_votes_mnist_250.parquet",
        rows=9000,
        columns=10,
        citation=_PATE_CITATION,
        licence="none stated; the original code is Apache-2.0",
        file_sha256="49cc6f05840badf1a26d85e0f7930ebdf439d721ded840126e777a2c51e4c644",
        content_sha256="7f13ff06620f66eb5e50b7fabadd4d56b81761dfd2ab71227b7b2c1759f2fcbe",
        origin="https://github.com/frhrdr/patepy",
        note="Row i is MNIST test image i; no vote is unanimous.",
        files=(_pin(_PATE_2018, "test_application/pate2018_test_data/mnist_250_teachers.npy"),),
        convert=arrays.votes,
    ),
    DatasetInfo(
        name="sd2011",
        title="Social Diagnosis 2011, quality of life in Poland: a sample of 5,000 persons",
        file="sd2011_synthpop.parquet",
        rows=5000,
        columns=35,
        citation=(
            "Council for Social Monitoring, Social Diagnosis 2000-2011; Nowok, Raab, Dibben, synthpop, Journal of "
            "Statistical Software 74(11), 2016"
        ),
        licence="GPL-2 | GPL-3, as part of the synthpop package",
        file_sha256="1d7f49c04b350a04a9a53a6e0bdc8bb28d1c2f3ee2770410394e43798e4d8c34",
        content_sha256="9be29fff7ce0d2997b1eb36c4a00319baadd64de8b9463396de916053d5f1c16",
        origin="SD2011.rda of the R package synthpop on CRAN",
        note="-8 is a special missing value in several columns; one BMI is 450.",
    ),
    DatasetInfo(
        name="uci_news",
        title="Headlines of the UCI News Aggregator with their categories (a part of it)",
        file="uci_news_titles.parquet",
        rows=23504,
        columns=7,
        citation="Gasparetti, News Aggregator, UCI Machine Learning Repository, 2016, doi:10.24432/C5F61C",
        licence="CC BY 4.0",
        file_sha256="65528862048de75038a7fef539044c44047fb52fd3afb86edfcced449aa1a2b5",
        content_sha256="6445fa98137cbf37457101fb46853bf8b9072fb26eb9c58e6f43e85c412a950c",
        origin="https://archive.ics.uci.edu/dataset/359/news+aggregator",
        note="Not a uniform sample of the 422,419 rows: the column src says which collection a row came from.",
    ),
    DatasetInfo(
        name="web_requests",
        title="Web requests, harmless and malicious, of four collections",
        file="web_requests.parquet",
        rows=285235,
        columns=5,
        citation=(
            "CSIC 2010 HTTP dataset, Torrano-Gimenez, Perez-Villegas, Alvarez; Fwaf, Ahmad 2017; "
            "HttpParamsDataset, Morzeux"
        ),
        licence="MIT (HttpParamsDataset); none stated for the others",
        file_sha256="92c4b64642db501eaed5e6fcf7ae67ce26decda7608d357e231920136eedc474",
        content_sha256="99721648c4d5da95b504396a94899821774348e9b9f2ce0415b0be5d082b4c46",
        origin="https://github.com/Morzeux/HttpParamsDataset and the repositories named in files",
        note="httpparams holds parameter values only; faizann24_data2 has no harmless class.",
        files=(
            _pin(_CSIC, "normal.txt"),
            _pin(_CSIC, "anomalous.txt"),
            _pin(_FWAF, "badqueries.txt"),
            _pin(_FWAF_GOOD, "data/goodqueries.txt"),
            _pin(_HTTP_PARAMS, "payload_full.csv"),
            _pin(_BAD_URLS, "data/data2.csv"),
        ),
        convert=sequences.web_requests,
    ),
    DatasetInfo(
        name="winequality_white",
        title="White vinho verde: eleven measurements and a quality score",
        file="winequality_white.parquet",
        rows=4898,
        columns=12,
        citation=(
            "Cortez, Cerdeira, Almeida, Matos, Reis, Wine Quality, UCI Machine Learning Repository, 2009, "
            "doi:10.24432/C56S3T"
        ),
        licence="CC BY 4.0",
        file_sha256="2c476d52410d4a2015b207ad2875b9778b7fd5db3b3c91506903bda9fce8dd38",
        content_sha256="6d7be1b72343c194d181f3e8233137624c721c0f2938d9a69f7130aa35eab41f",
        origin="https://archive.ics.uci.edu/dataset/186/wine+quality",
        files=(
            PublishedFile(
                "winequality-white.csv",
                (
                    *_pin(_BROWNLEE, "winequality-white.csv").urls,
                    f"{_UCI}/wine-quality/winequality-white.csv",
                ),
            ),
        ),
        convert=tabular.winequality_white,
    ),
)

REGISTRY = {entry.name: entry for entry in _ENTRIES}
